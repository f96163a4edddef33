import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { GatewayServer, type GatewayServerOptions } from '../support/gateway-server.js';
import { until } from '../support/proc.js';
import { MAIN } from './spawn-cli.js';

const TOKEN = 'a-token-that-is-long-enough';
const PAGE = '<!doctype html><title>page</title>';

const dir = mkdtempSync(join(tmpdir(), 'dashboard-'));
afterAll(() => rmSync(dir, { recursive: true }));
const open: GatewayServer[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.stop();
});

/** The program as it is built, with this page as its dashboard, or with none. */
function installed(name: string, page: string | null): string {
  const built = dirname(dirname(MAIN));
  const root = dirname(built);
  const dist = join(dir, name, 'dist');
  mkdirSync(dist, { recursive: true });
  for (const entry of readdirSync(root)) if (entry !== 'dist') symlinkSync(join(root, entry), join(dir, name, entry));
  for (const entry of readdirSync(built)) if (!['cli', 'web'].includes(entry)) symlinkSync(join(built, entry), join(dist, entry));
  cpSync(join(built, 'cli'), join(dist, 'cli'), { recursive: true });
  const main = join(dist, 'cli', basename(MAIN));
  if (page === null) return main;
  mkdirSync(join(dist, 'web'));
  writeFileSync(join(dist, 'web/index.html'), page);
  return main;
}

const WITH = installed('with', PAGE);
const WITHOUT = installed('without', null);

/** Runs it and gives the lines that it prints. */
async function serve(main: string, options: GatewayServerOptions): Promise<{ server: GatewayServer; lines: string[] }> {
  const prefix = ['sh', '-c', 'main=$1 node=$2; shift 3; exec "$node" "$main" "$@"', 'sh', main];
  const server = await GatewayServer.start({ ...options, prefix });
  open.push(server);
  await until('all is printed', () => server.output.stdout.endsWith('/processes/demo\n\n'), 60_000);
  return { server, lines: server.output.stdout.split('\n') };
}

const addresses = (lines: string[]) => lines.filter((line) => /^ {2}http/.test(line)).map((line) => line.trim());

test('the address that is printed is the dashboard, and its fragment the token that was made', async () => {
  const { server, lines } = await serve(WITH, { token: null });
  const [address = '', ...more] = addresses(lines);
  const [url, token] = address.split('#token=');
  expect([url, more]).toEqual([`${server.url}/`, []]);
  expect(lines[lines.indexOf(`  ${address}`) - 1]).toBe('# see and drive everything in a browser');
  expect(await (await fetch(url as string, { headers: { accept: 'text/html' } })).text()).toBe(PAGE);
  expect((await server.fetch('/processes', { headers: { authorization: `Bearer ${token}` } })).status).toBe(200);
});

test.each<[name: string, options: GatewayServerOptions]>([
  ['a token of the user', { token: TOKEN }],
  ['no token', { token: null, flags: ['--no-auth'] }],
])('with %s it is the address alone', async (_name, options) => {
  const { server, lines } = await serve(WITH, options);
  expect(addresses(lines)).toEqual([`${server.url}/`]);
  expect(server.output.stdout).not.toContain(TOKEN);
});

test('on every address it is the one of this machine', async () => {
  const { server, lines } = await serve(WITH, { token: TOKEN, flags: ['--listen', '0.0.0.0:0'] });
  expect(addresses(lines)).toEqual([`http://127.0.0.1:${new URL(server.url).port}/`]);
});

test('there is none where there is no dashboard, and none of a unix socket', async () => {
  const without = await serve(WITHOUT, { token: null });
  const socket = await serve(WITH, { token: null, flags: ['--listen', `unix:${join(dir, 'socket')}`] });
  expect([addresses(without.lines), addresses(socket.lines)]).toEqual([[], []]);
});

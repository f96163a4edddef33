import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { commandLine, until } from '../support/proc.js';
import { RawConnection, requestText } from './raw-connection.js';
import { WireGateway } from './use-gateway.js';

/** A file of holes: to copy it takes much longer than a shutdown, and no room. */
const BIG_BYTES = 2 ** 40;

let dir: string;
let gateway: WireGateway;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'shutdown-files-'));
  gateway = new WireGateway({});
  await gateway.open();
});
afterEach(() => {
  // Only after a failure is there one left.
  if (commandLine(gateway.server.pid).includes('serve')) process.kill(gateway.server.pid, 'SIGKILL');
  rmSync(dir, { recursive: true });
});

const all = () => readdirSync(dir, { recursive: true }).map(String).sort();
const unfinished = () => all().filter((name) => name.endsWith('.exec-gateway-tmp'));

async function put(address: string, body: string, missing: number): Promise<RawConnection> {
  const headers = [`Host: 127.0.0.1:${gateway.port}`, gateway.authorization, `Content-Length: ${body.length + missing}`];
  return (await RawConnection.open(gateway.port)).send(requestText(`PUT ${address} HTTP/1.1`, headers, body));
}

const parameter = (name: string) => `path=${encodeURIComponent(join(dir, name))}`;

/** A header of a tar (ustar): name, mode, owner, size, time, checksum, type. */
function tarHeader(name: string, size: number): string {
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, '0')}\0`;
  const fields = (sum: string) =>
    [name.padEnd(100, '\0'), octal(0o644, 7), octal(0, 7), octal(0, 7), octal(size, 11), octal(0, 11), sum, '0'].join('').padEnd(512, '\0');
  const sum = [...fields(' '.repeat(8))].reduce((total, char) => total + char.charCodeAt(0), 0);
  return fields(`${sum.toString(8).padStart(6, '0')}\0 `);
}

test('SIGTERM in the middle of writes, copies and an archive leaves what was there, and nothing half done', async () => {
  writeFileSync(join(dir, 'kept'), 'old');
  mkdirSync(join(dir, 'tree'));
  mkdirSync(join(dir, 'unpacked'));
  for (const name of ['big', 'tree/big']) {
    writeFileSync(join(dir, name), '');
    truncateSync(join(dir, name), BIG_BYTES);
  }
  const before = all();
  const names = ['kept', ...Array.from({ length: 39 }, (_, i) => `new-${i}`)];
  const puts = await Promise.all(names.map((name) => put(`/fs/file?${parameter(name)}`, 'half', 4)));
  const archive = await put(`/fs/archive?${parameter('unpacked')}`, tarHeader('packed', 2 ** 20) + 'x'.repeat(2 ** 19), 2 ** 19 + 1024);
  const copies = ['big', 'tree'].map((name) =>
    gateway.send('POST', '/fs/copy', { source_path: join(dir, name), destination_path: join(dir, `${name}-copy`), recursive: true }),
  );
  await until('all are under way', () => unfinished().length === names.length + 4);

  const stopped = gateway.server.stop();
  const replies = await Promise.all([...puts, archive].map((connection) => connection.reply()));
  for (const reply of replies) expect([reply?.status, JSON.parse(reply?.body ?? '{}').code]).toEqual([503, 'shutting_down']);
  for (const copy of copies) expect((await copy).status).toBe(503);
  await stopped;
  expect(all()).toEqual(before);
  expect(readFileSync(join(dir, 'kept'), 'utf8')).toBe('old');
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, watch, writeFileSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { GatewayServer, type GatewayServerOptions } from '../support/gateway-server.js';
import { isRunning, until } from '../support/proc.js';
import { runCli } from './run-cli.js';

const TOKEN = 'a-token-that-is-long-enough';
let dir: string;
const open: GatewayServer[] = [];

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'serve-'));
  writeFileSync(join(dir, "my own 'token'"), `${TOKEN}\n`, { mode: 0o600 });
});
afterAll(() => rmSync(dir, { recursive: true }));
afterEach(async () => {
  for (const server of open.splice(0)) await server.stop();
});

async function start(options: GatewayServerOptions): Promise<GatewayServer> {
  const server = await GatewayServer.start(options);
  open.push(server);
  return server;
}

/** What a person does with a line: pastes it into a shell. */
async function paste(line: string, env: Record<string, string> = {}): Promise<{ code: number; stdout: string; stderr: string }> {
  const shell = spawn('sh', ['-c', line], { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const told = { stdout: '', stderr: '' };
  shell.stdout.on('data', (bytes: Buffer) => (told.stdout += bytes));
  shell.stderr.on('data', (bytes: Buffer) => (told.stderr += bytes));
  const [code] = await once(shell, 'close');
  return { code, ...told };
}

/** The lines that a gateway has printed to be pasted. */
async function pasteLines(server: GatewayServer): Promise<[string, string, string, string]> {
  await until('the lines are printed', () => server.output.stdout.endsWith('\n\n'));
  const lines = server.output.stdout.split('\n').filter((line) => line.startsWith('  curl'));
  expect(lines).toHaveLength(4);
  return lines as [string, string, string, string];
}

const IPV6 = Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === '::1'));

describe('the lines that serve prints work as they are', () => {
  const cases: [name: string, options: () => GatewayServerOptions, env: Record<string, string>][] = [
    ['with a token that it made', () => ({ token: null }), {}],
    ['with a token by variable', () => ({ token: TOKEN }), { EXEC_GATEWAY_TOKEN: TOKEN }],
    ['with a token by file', () => ({ token: null, flags: ['--token-file', join(dir, "my own 'token'")] }), {}],
    ['with a token by file by variable', () => ({ token: null, env: { EXEC_GATEWAY_TOKEN_FILE: join(dir, "my own 'token'") } }), {}],
    ['without a token', () => ({ token: null, flags: ['--no-auth'] }), {}],
    ['on a unix socket', () => ({ token: null, flags: ['--listen', `unix:${join(dir, "gate'way")}`] }), {}],
    ['on every address', () => ({ token: TOKEN, flags: ['--listen', '0.0.0.0:0'] }), { EXEC_GATEWAY_TOKEN: TOKEN }],
    ...(IPV6 ? [['on IPv6', () => ({ token: null, flags: ['--listen', '[::1]:0'] }), {}] as (typeof cases)[number]] : []),
  ];

  test.each(cases)('%s', async (_name, options, env) => {
    const server = await start(options());
    const [run, begin, follow, end] = await pasteLines(server);
    const ran = await paste(run, env);
    expect([ran.code, ran.stderr, JSON.parse(ran.stdout)]).toMatchObject([
      0,
      '',
      { exit_code: 0, stdout: expect.stringContaining('Linux') },
    ]);
    const begun = await paste(begin, env);
    expect(JSON.parse(begun.stdout)).toMatchObject({ process_id: 'demo', state: 'running' });
    const following = paste(follow, env);
    await until('it prints', async () => JSON.parse((await paste(begin, env)).stdout).total_bytes > 0);
    const ended = await paste(end, env);
    expect(JSON.parse(ended.stdout)).toEqual({ running: true });
    const followed = await following;
    expect([followed.code, followed.stderr]).toEqual([0, '']);
    expect(followed.stdout).toMatch(/\d\d:\d\d/);
  });
});

test('a gateway on every address says so, and how it is reached', async () => {
  const server = await start({ token: TOKEN, flags: ['--listen', '0.0.0.0:0'] });
  const [run] = await pasteLines(server);
  const { port } = new URL(server.url);
  expect(server.output.stdout).toMatch(new RegExp(`^exec-gateway listens on http://0.0.0.0:${port}\n.*every address.* 127.0.0.1 below`));
  expect(run).toContain(`http://127.0.0.1:${port}/run`);
});

test.each(['SIGINT', 'SIGTERM'] as const)('%s is answered by a line', async (signal) => {
  const server = await GatewayServer.start({});
  await pasteLines(server);
  const { length } = server.output.stdout;
  await server.stop(signal);
  expect(server.output.stdout.slice(length)).toMatch(new RegExp(`^exec-gateway ends on ${signal}, .*\\n$`));
});

describe('the token', () => {
  test('that is made is another each time, and not short', async () => {
    const made = await Promise.all([1, 2].map(async () => /Bearer (\S+)"/.exec((await pasteLines(await start({ token: null })))[0])?.[1]));
    expect(made[0]).toMatch(/^[\w-]{32}$/);
    expect(made[1]).toMatch(/^[\w-]{32}$/);
    expect(made[0]).not.toBe(made[1]);
  });

  test('of the user is nowhere in what is printed', async () => {
    const by_variable = await start({ token: TOKEN });
    const by_file = await start({ token: null, flags: ['--token-file', join(dir, "my own 'token'")] });
    await Promise.all([pasteLines(by_variable), pasteLines(by_file)]);
    for (const { output } of [by_variable, by_file]) expect(output.stdout + output.stderr).not.toContain(TOKEN);
    const headers = { authorization: `Bearer ${TOKEN}` };
    expect((await by_file.fetch('/processes', { headers })).status).toBe(200);
    expect((await by_file.fetch('/processes', { headers: { authorization: 'Bearer EXEC_GATEWAY_TOKEN' } })).status).toBe(401);
  });

  test('by flag wins over that by variable', async () => {
    const server = await start({ token: 'another-token-that-is-long', flags: ['--token-file', join(dir, "my own 'token'")] });
    expect((await server.fetch('/processes', { headers: { authorization: `Bearer ${TOKEN}` } })).status).toBe(200);
    expect((await server.fetch('/processes')).status).toBe(401);
  });
});

describe('where it listens', () => {
  const socket = () => join(dir, 'socket');
  const onSocket = (): GatewayServerOptions => ({ token: null, flags: ['--no-auth', '--listen', `unix:${socket()}`] });
  const ask = () => paste(`curl -sS --unix-socket ${socket()} http://any.name/healthz`);

  test('a unix socket is for its owner alone, answers any Host, and goes away with the gateway', async () => {
    const server = await start(onSocket());
    expect(statSync(socket()).mode & 0o777).toBe(0o600);
    expect(await ask()).toMatchObject({ code: 0, stdout: '{"status":"ok","auth":"none"}' });
    open.pop();
    await server.stop();
    expect(existsSync(socket())).toBe(false);
  });

  test('a unix socket is made with its mode, not given it later', async () => {
    const own = join(dir, 'private');
    mkdirSync(own);
    const changes: string[] = [];
    const watcher = watch(own, (change) => changes.push(change));
    await start({ token: null, flags: ['--no-auth', '--listen', `unix:${join(own, 'socket')}`] });
    writeFileSync(join(own, 'last'), ''); // by now all that was done to the socket is told
    await until('it is told', () => changes.filter((change) => change === 'rename').length >= 2);
    watcher.close();
    expect(statSync(join(own, 'socket')).mode & 0o777).toBe(0o600);
    expect(changes.slice(0, 2)).toEqual(['rename', 'rename']);
  });

  test('children of a gateway on a unix socket get the umask it was started with', async () => {
    await start({ token: null, flags: ['--no-auth', '--listen', `unix:${socket()}`], prefix: ['sh', '-c', 'umask 027; exec "$@"', 'sh'] });
    const run = await paste(
      `curl -sS --unix-socket ${socket()} -H 'Content-Type: application/json' -d '{"argv":["sh","-c","umask"]}' http://any.name/run`,
    );
    expect(JSON.parse(run.stdout)).toMatchObject({ stdout: '0027\n' });
  });

  test('a stale socket is taken over, a live one is not', async () => {
    const crashed = await GatewayServer.start(onSocket());
    process.kill(crashed.pid, 'SIGKILL');
    await until('it is gone', () => !isRunning(crashed.pid));
    expect(statSync(socket()).isSocket()).toBe(true);
    await start(onSocket());
    expect((await ask()).code).toBe(0);
    const second = runCli(['serve', '--no-auth', '--listen', `unix:${socket()}`]);
    expect([second.status, second.stderr]).toEqual([2, expect.stringMatching(/is in use/)]);
    expect((await ask()).code).toBe(0);
  });

  test('a file in the way is left alone', () => {
    const path = join(dir, 'precious');
    writeFileSync(path, 'content');
    expect(runCli(['serve', '--no-auth', '--listen', `unix:${path}`])).toMatchObject({ status: 2, stderr: expect.stringContaining(path) });
    expect(readFileSync(path, 'utf8')).toBe('content');
  });

  test('a port in use is refused, and the one who has it is undisturbed', async () => {
    const server = await start({});
    const second = runCli(['serve', '--no-auth', '--listen', new URL(server.url).host]);
    expect([second.status, second.stderr]).toEqual([
      2,
      expect.stringMatching(/is in use: end what listens there, or give another --listen/),
    ]);
    expect((await server.fetch('/healthz')).status).toBe(200);
  });

  test('a name is as good as an address', async () => {
    const server = await start({ flags: ['--listen', 'localhost:0'] });
    expect((await server.fetch('/healthz')).status).toBe(200);
  });
});

describe('a gateway in front of another', () => {
  test('tells a wrong upstream token as a fault of its own, not of the caller', async () => {
    const behind = await start({});
    const server = await start({ flags: ['--upstream', behind.url, '--upstream-token-file', join(dir, "my own 'token'")] });
    const reply = await server.fetch('/processes');
    expect([reply.status, (await reply.json()).code]).toEqual([502, 'upstream_unreachable']);
    const nobody = await start({ flags: ['--upstream', 'http://127.0.0.1:9'] });
    expect((await nobody.fetch('/processes')).status).toBe(502);
    expect((await nobody.fetch('/healthz')).status).toBe(200);
  });
});

describe('settings by variable', () => {
  test('all take effect', async () => {
    const behind = await start({});
    writeFileSync(join(dir, 'behind'), `${behind.token}\n`);
    const env = {
      EXEC_GATEWAY_LISTEN: '127.0.0.1:0',
      EXEC_GATEWAY_ALLOW_HOST: 'gate.example',
      EXEC_GATEWAY_ALLOW_ORIGIN: 'https://dash.example',
      EXEC_GATEWAY_MAX_BODY_BYTES: '2000',
      EXEC_GATEWAY_HEARTBEAT_MS: '20',
      EXEC_GATEWAY_LOG_LEVEL: 'silent',
      EXEC_GATEWAY_UPSTREAM: behind.url,
      EXEC_GATEWAY_UPSTREAM_TOKEN_FILE: join(dir, 'behind'),
    };
    const server = await start({ env });
    const json = { method: 'POST', headers: { 'content-type': 'application/json' } };
    const run = await server.fetch('/run', { ...json, body: JSON.stringify({ argv: ['echo', 'hi'], process_id: 'through' }) });
    expect(await run.json()).toMatchObject({ stdout: 'hi\n' });
    expect((await behind.fetch('/processes/through')).status).toBe(200);
    expect((await server.fetch('/run', { ...json, body: 'x'.repeat(3000) })).status).toBe(413);
    const page = await server.fetch('/processes', { headers: { origin: 'https://dash.example' } });
    expect(page.headers.get('access-control-allow-origin')).toBe('https://dash.example');
    const named = await paste(`curl -sS -H "Host: gate.example" ${server.url}/healthz`);
    expect(named.stdout).toBe('{"status":"ok","auth":"token"}');
    const events = await server.fetch('/events');
    const reader = (events.body as ReadableStream<Uint8Array>).getReader();
    for (let text = ''; !text.includes(': keep-alive'); ) text += Buffer.from((await reader.read()).value ?? []).toString();
    await reader.cancel();
    expect(server.output.stderr).toBe('');
  });

  test('those of processes too', async () => {
    const env = {
      EXEC_GATEWAY_MAX_PROCESSES: '2',
      EXEC_GATEWAY_RETAIN_BYTES: '5000',
      EXEC_GATEWAY_MAX_CLOSED: '1',
      EXEC_GATEWAY_SHUTDOWN_GRACE_MS: '0',
    };
    const server = await start({ env });
    const post = (path: string, body: object) =>
      server.fetch(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
    for (const process_id of ['one', 'two']) await (await post('/run', { argv: ['seq', '10000'], process_id })).text();
    const { processes } = await (await server.fetch('/processes')).json();
    expect(processes).toMatchObject([{ process_id: 'two', total_bytes: 48_894 }]);
    expect(processes[0].retained_bytes).toBeLessThanOrEqual(5000);
    const stubborn = ['sh', '-c', `trap '' TERM; while :; do sleep 1; done`];
    const statuses = [
      await post('/processes', { argv: stubborn }),
      await post('/processes', { argv: stubborn }),
      await post('/processes', { argv: ['true'] }),
    ];
    expect(statuses.map(({ status }) => status)).toEqual([201, 201, 429]);
    const started = performance.now();
    open.pop();
    await server.stop();
    expect(performance.now() - started).toBeLessThan(1900); // the default grace alone is 2 s
  });
});

describe('the log', () => {
  test('has one line a request, with the id that the reply told', async () => {
    const server = await start({});
    const too_long = `/processes/${'x'.repeat(2_000)}`;
    const paths = ['/processes', '/processes/none', '/no/such', too_long, '/processes/none/events?after_seq=5', '/processes/%zz'];
    const ids: (string | null)[] = [];
    for (const path of paths)
      ids.push((await server.fetch(path, { headers: { 'x-request-id': `id-${ids.length}` } })).headers.get('x-request-id'));
    ids.push((await server.fetch('/readyz')).headers.get('x-request-id'));
    const logged = () => server.output.stderr.split('\n').filter((line) => line.includes('"msg":"request"'));
    await until('all are logged', () => logged().length >= ids.length);
    const lines = logged().map((line) => JSON.parse(line));
    expect(lines.map(({ req_id }) => req_id)).toEqual(ids);
    expect(lines[4]).toEqual({
      level: 30,
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      req_id: 'id-4',
      method: 'GET',
      path: '/processes/none/events',
      route: '/processes/:process_id/events',
      status: 404,
      ms: expect.any(Number),
      msg: 'request',
    });
    expect(lines[3]).toMatchObject({ path: too_long, status: 414 });
    expect(ids.slice(0, 6)).toEqual([0, 1, 2, 3, 4, 5].map((i) => `id-${i}`));
  });

  test('goes to stderr and not to stdout, and below its level there is none', async () => {
    const server = await start({ flags: ['--log-level', 'error'] });
    await server.fetch('/no/such');
    await pasteLines(server);
    expect([server.output.stderr, server.output.stdout]).toEqual(['', expect.not.stringContaining('"level"')]);
  });
});

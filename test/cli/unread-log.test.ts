import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, mkdtempSync, openSync, readFileSync, readSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LocalExecProcess } from '../../src/process/local-exec-process.js';
import { DEFAULT_LIMITS, ProcessHandler } from '../../src/process/process-handler.js';
import { GatewayServer } from '../support/gateway-server.js';
import { rssBytes, until } from '../support/proc.js';
import { readUntil } from '../support/told.js';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.cjs', import.meta.url));
const MIB = 1024 * 1024;

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'unread-log-'));
});
afterAll(() => rmSync(dir, { recursive: true }));

/** A pipe that holds as much as it can, and the end of it to read from. */
function fullPipe(name: string): { path: string; fd: number } {
  const path = join(dir, name);
  execFileSync('mkfifo', [path]);
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  expect(() => {
    for (;;) writeSync(fd, '.'.repeat(4096));
  }).toThrow(/EAGAIN/);
  return { path, fd };
}

/** What a pipe holds at this moment. */
function held(fd: number): string {
  const bytes = Buffer.alloc(MIB);
  try {
    return bytes.toString('latin1', 0, readSync(fd, bytes));
  } catch {
    return '';
  }
}

/** A gateway that logs to a file. */
const loggingTo = (path: string) => GatewayServer.start({ prefix: ['sh', '-c', `exec "$@" 2>'${path}'`, 'sh'] });

const LONG_PATH = `/processes/${'x'.repeat(400)}`;

/** Makes a gateway log so many bytes. */
async function logs(ask: (path: string) => Promise<Response>, bytes: number): Promise<void> {
  for (let done = 0; done < bytes; done += 100 * LONG_PATH.length) {
    await Promise.all(Array.from({ length: 100 }, () => ask(LONG_PATH).then((reply) => reply.arrayBuffer())));
  }
}

describe('a log that nobody reads', () => {
  test('holds up neither requests nor the end, and takes no memory', async () => {
    const { path, fd } = fullPipe('stderr');
    const server = await loggingTo(path);
    const ask = (to: string) => server.fetch(to);
    await logs(ask, 1.5 * MIB);
    const before = rssBytes(server.pid);
    await logs(ask, 1.5 * MIB);
    expect(rssBytes(server.pid) - before).toBeLessThan(40 * MIB);
    const begun = performance.now();
    await server.stop();
    expect(performance.now() - begun).toBeLessThan(5_000);
    closeSync(fd);
  });

  test('is told of what was dropped when it is read again', async () => {
    const { path, fd } = fullPipe('late');
    const server = await loggingTo(path);
    await logs((to) => server.fetch(to), 2 * MIB);
    let text = '';
    for (const deadline = performance.now() + 10_000; !text.includes('dropped') && performance.now() < deadline; ) {
      text += held(fd);
      await server.fetch('/healthz');
    }
    const notice = text.split('\n').find((line) => line.includes('dropped')) ?? '{}';
    expect(JSON.parse(notice)).toMatchObject({ level: 40, lines: expect.any(Number) });
    expect(JSON.parse(notice).lines).toBeGreaterThan(1_000);
    await server.stop();
    closeSync(fd);
  });

  test('does not hold up the end on a terminal that is stopped either', async () => {
    const handler = new ProcessHandler(DEFAULT_LIMITS);
    const processes = new LocalExecProcess(handler);
    const argv = [process.execPath, MAIN, 'serve', '--no-auth', '--listen', '127.0.0.1:0'];
    const { process: gateway } = await processes.start({ argv, tty: true });
    const { text } = await readUntil(processes, gateway.process_id, 'demo\r\n\r\n');
    const url = /listens on (\S+)/.exec(text)?.[1];
    await processes.write(gateway.process_id, Buffer.of(0x13)); // ^S
    await logs((to) => fetch(url + to), 1.5 * MIB);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    await processes.signal(gateway.process_id, { signal: 'TERM' });
    expect(await processes.get(gateway.process_id, { wait_ms: 10_000 })).toMatchObject({ exit_code: 0, reason: 'exited' });
    await handler.shutdown(0);
  });
});

test('a log on a disk that is full loses what is told meanwhile, and goes on when there is room', async () => {
  const path = join(dir, 'log');
  writeFileSync(path, '');
  const server = await loggingTo(path);
  const ask = async (to: string) => expect((await server.fetch(to)).status).toBe(404);
  const logged = (of: string) => until(`${of} is logged`, () => readFileSync(path, 'latin1').includes(of));
  const limit = (bytes: number | 'unlimited') => execFileSync('prlimit', ['--pid', String(server.pid), `--fsize=${bytes}:`]);
  await ask('/processes/before');
  await logged('/processes/before');
  limit(1);
  await ask('/processes/meanwhile');
  await logs((to) => server.fetch(to), 10_000); // more than is written together
  limit('unlimited');
  await ask('/processes/after');
  await logged('/processes/after');
  expect(readFileSync(path, 'latin1')).not.toContain('/processes/meanwhile');
  await server.stop();
});

test('a reader of what serve prints may leave', async () => {
  const fifo = join(dir, 'stdout');
  execFileSync('mkfifo', [fifo]);
  const reader = spawn('head', ['-n', '1', fifo], { stdio: ['ignore', 'pipe', 'ignore'] });
  const argv = [MAIN, 'serve', '--no-auth', '--listen', '127.0.0.1:0'];
  const gateway = spawn('sh', ['-c', `exec "$@" >'${fifo}'`, 'sh', process.execPath, ...argv], { stdio: 'ignore' });
  const [line] = await once(reader.stdout, 'data');
  if (reader.exitCode === null) await once(reader, 'exit');
  expect((await fetch(`${String(line).trim().split(' ').at(-1)}/healthz`)).status).toBe(200);
  gateway.kill('SIGTERM');
  expect(await once(gateway, 'exit')).toEqual([0, null]);
});

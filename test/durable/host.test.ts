import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { persist } from '../../src/client/persist.js';
import { retrySettings } from '../../src/client/retry.js';
import type { ExecProcess, ProcessEvent } from '../../src/protocol/index.js';
import { spawnCli } from '../cli/spawn-cli.js';
import { isRunning, until } from '../support/proc.js';
import { codeOf } from '../support/told.js';
import { HostedGateway, RETRY, useHostedGateway } from './hosted-gateway.js';

const patience = { retry: retrySettings(RETRY) };
const gateway = useHostedGateway();
const eventsOf = async (processes: ExecProcess, process_id: string) => {
  const events: ProcessEvent[] = [];
  for await (const batch of await processes.follow(process_id)) events.push(...batch);
  return events;
};
const mode = (path: string) => (statSync(path).mode & 0o7777).toString(8);

describe('the data directory', () => {
  test('is this user’s alone, with all that is in it', () => {
    const { dir } = gateway();
    expect(['', 'host.sock', 'host.lock', 'front.lock', 'host.log'].map((name) => mode(join(dir, name)))).toEqual([
      '700',
      ...Array(4).fill('600'),
    ]);
  });

  test('a second gateway on it is refused, and the first one works on', async () => {
    const { code, stderr } = await spawnCli(['serve', '--listen', '127.0.0.1:0', '--data-dir', gateway().dir]).ended;
    expect([code, stderr]).toEqual([2, expect.stringContaining(`is in use by another gateway (pid ${gateway().server.pid})`)]);
    const { stdout } = await gateway()
      .processes()
      .run({ argv: ['echo', 'on'] });
    expect(Buffer.from(stdout).toString()).toBe('on\n');
  });

  test('a second host on it is refused', async () => {
    const { code, stderr } = await gateway().command('host');
    expect([code, stderr]).toEqual([2, expect.stringContaining('runs already')]);
  });

  test('one that others may enter, or that is none, is refused in a line', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'durable-'));
    mkdirSync(join(dir, 'open'));
    chmodSync(join(dir, 'open'), 0o755);
    writeFileSync(join(dir, 'file'), '');
    const refused = (path: string) => spawnCli(['serve', '--listen', '127.0.0.1:0', '--data-dir', path]).ended;
    expect(await refused(join(dir, 'open'))).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--data-dir: .* is open to other users \(mode 0755\): chmod 700/),
    });
    expect(await refused(join(dir, 'file'))).toMatchObject({ code: 2, stderr: expect.stringContaining('cannot be used') });
    expect(await refused(join(dir, 'x'.repeat(110)))).toMatchObject({ code: 2, stderr: expect.stringContaining('too long for a socket') });
    rmSync(dir, { recursive: true });
  });
});

describe('the host', () => {
  test('when it is killed: calls under way are told, another one is started, and work goes on', async () => {
    const processes = gateway().processes();
    const { process } = await processes.start({ argv: ['sleep', '600'] });
    const waiting = codeOf(processes.get(process.process_id, { wait_ms: 60_000 }));
    const following = eventsOf(processes, process.process_id);
    const host = await gateway().hostPid();
    globalThis.process.kill(host, 'SIGKILL');
    expect(await waiting).toBe('upstream_unreachable');
    // It came back to the new one, which tells what became of the process, and ended it.
    expect(await following).toMatchObject([{ event: 'gap', reason: 'lost' }, { event: 'exited', signal: 'SIGKILL' }, { event: 'closed' }]);
    await until('it is ended', () => !isRunning(process.pid as number));
    const { exit_code } = await persist((signal) => processes.run({ argv: ['true'] }, { signal }), patience);
    expect(exit_code).toBe(0);
    expect(await gateway().hostPid()).not.toBe(host);
  });

  test('what connects and speaks nonsense is let go, and disturbs nobody', async () => {
    for (const bytes of [Buffer.alloc(64, 0xff), Buffer.from('GET / HTTP/1.1\r\n\r\n'.padEnd(64)), Buffer.alloc(7)]) {
      await new Promise<void>((resolve) => {
        const socket = connect(join(gateway().dir, 'host.sock'), () => socket.end(bytes));
        socket.on('error', () => {}).on('close', () => resolve());
        socket.resume();
      });
    }
    expect(
      (
        await gateway()
          .processes()
          .run({ argv: ['true'] })
      ).exit_code,
    ).toBe(0);
  });

  test('takes over the settings of each gateway that comes', async () => {
    const tight = await HostedGateway.open(['--max-processes', '1']);
    await tight.processes().start({ argv: ['sleep', '600'] });
    expect(await codeOf(tight.processes().start({ argv: ['true'] }))).toBe('too_many_processes');
    await tight.server.stop();
    await tight.start(undefined, ['--max-processes', '2']);
    expect((await tight.processes().run({ argv: ['true'] })).exit_code).toBe(0);
    await tight.close();
  });
});

describe('status, drain and doctor', () => {
  let own: HostedGateway;
  beforeAll(async () => {
    own = await HostedGateway.open();
  });
  afterAll(() => own.close());

  test('status tells of the host and the gateway, for people and for programs', async () => {
    const { code, stdout } = await own.command('status');
    expect([code, stdout.toString()]).toEqual([0, expect.stringMatching(/^host +pid \d+, version \S+, protocol 1, for /m)]);
    expect(stdout.toString()).toMatch(/^processes +0 running, 0 ended and still readable$/m);
    expect(await own.status()).toMatchObject({
      data_dir: own.dir,
      front_pid: own.server.pid,
      host: { draining: false, front: { pid: own.server.pid }, stats: { running: 0 } },
    });
  });

  test('doctor finds what others may read, and repairs it', async () => {
    const log = join(own.dir, 'host.log');
    chmodSync(log, 0o644);
    expect(await own.command('doctor')).toMatchObject({ code: 1 });
    expect((await own.command('doctor', '--repair')).stdout.toString()).toContain(`repaired: ${log} is open to other users`);
    expect([(await own.command('doctor')).code, mode(log)]).toEqual([0, '600']);
  });

  test('drain takes no new work, waits, ends what is left and the host; then the gateway says so', async () => {
    const processes = own.processes();
    const { process: last } = await processes.start({ argv: ['sh', '-c', 'read x; echo done'], pipe_stdin: true });
    await processes.start({ argv: ['sleep', '600'] });
    const host = await own.hostPid();
    const draining = own.command('drain', '--wait', '3s', '--grace', '0');
    await until('it is draining', async () => (await own.status()).host?.draining === true);
    expect(await codeOf(processes.start({ argv: ['true'] }))).toBe('shutting_down');
    await processes.write(last.process_id, Buffer.from('\n'), { eof: true });
    expect((await processes.get(last.process_id, { wait_ms: 10_000 })).exit_code).toBe(0);
    const { code, stdout } = await draining;
    expect([code, stdout.toString()]).toEqual([0, `the process host ${host} has ended, and 1 process with it\n`]);
    await until('the host is gone', () => !isRunning(host));
    expect(await codeOf(processes.list())).toBe('shutting_down');
    expect((await own.server.fetch('/readyz')).status).toBe(503);
    expect(await own.command('status')).toMatchObject({ code: 1 });
    expect(await own.command('drain')).toMatchObject({ code: 0 });
    await own.server.stop();
    await own.start();
    expect((await own.processes().run({ argv: ['true'] })).exit_code).toBe(0);
  });

  test('doctor finds the socket of a host that was killed, and removes it', async () => {
    const host = await own.hostPid();
    await own.server.stop();
    process.kill(host, 'SIGKILL');
    await until('the host is gone', () => !isRunning(host));
    const { code, stdout } = await own.command('doctor');
    expect([code, stdout.toString()]).toEqual([1, expect.stringContaining('left behind by a host that was killed')]);
    expect(await own.command('doctor', '--repair')).toMatchObject({ code: 0 });
    expect(await own.command('doctor')).toMatchObject({ code: 0 });
    await own.start();
  });
});

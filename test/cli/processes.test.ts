import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseCast } from '../support/cast.js';
import { CuttingProxy } from '../support/cutting-proxy.js';
import { GatewayServer } from '../support/gateway-server.js';
import { RunScene } from './run-scene.js';

const scene = new RunScene({ flags: ['--allow-host', '127.0.0.1'] });
const { gateway, call, prints, processes, start } = scene;

const started = async (line: string, rest = {}) => (await gateway.start(['sh', '-c', line], rest)).process_id;

describe('ps', () => {
  test('shows what runs, and with --all what has ended', async () => {
    const ended = await started('exit 3');
    await call(['wait', ended]);
    const running = await started('sleep 60', { labels: { team: 'web' } });
    expect(await prints(['ps'])).toMatch(new RegExp(`^ID +STATE +EXIT +AGE +COMMAND\n${running} +running +\\d+ s +sh -c 'sleep 60'\n$`));
    expect(await prints(['ps', '--all'])).toMatch(new RegExp(`\n${ended} +closed +3 +\\d+ s +sh -c 'exit 3'\n`));
    expect(await prints(['ps', '-q', '--all', '--label', 'team=web'])).toBe(`${running}\n`);
    const lines = (await prints(['ps', '-a', '--json'])).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).process_id)).toEqual([ended, running]);
  });

  test('never moves the cursor by what a process is called', async () => {
    await gateway.start(['sh', '-c', 'sleep 60 # \x1b[2J\n\u009b']);
    expect(await prints(['ps'])).toContain("'sleep 60 # \\x1b[2J\\x0a\\x9b'");
  });
});

describe('logs', () => {
  test('come out apart, from the beginning or the last lines', async () => {
    const id = await started('echo 1; echo 2; sleep 0.1; echo e >&2; sleep 0.1; printf 3');
    await call(['wait', id]);
    expect(await call(['logs', id])).toMatchObject({ code: 0, stdout: Buffer.from('1\n2\n3'), stderr: 'e\n' });
    expect(await call(['logs', '-f', '--tail', '2', id])).toMatchObject({ code: 0, stdout: Buffer.from('3'), stderr: 'e\n' });
    expect(await prints(['logs', '-n', '0', id])).toBe('');
  });

  test('end with what there is, unless they follow', async () => {
    const id = await started('echo now; read x; echo then', { pipe_stdin: true });
    const { child, ended } = start(['logs', '-f', id]);
    await new Promise<void>((resolve) => child.stdout.once('data', () => resolve()));
    expect(await prints(['logs', id])).toBe('now\n');
    await gateway.send('POST', `/processes/${id}/stdin`, { text: '\n' });
    expect(await ended).toMatchObject({ code: 0, stdout: Buffer.from('now\nthen\n') });
  });

  test('say what is no longer held', async () => {
    const id = await started('head -c 300000 /dev/zero; echo; echo last', { retain_bytes: 1 });
    await call(['wait', id]);
    const { code, stderr } = await call(['logs', id]);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^exec-gateway logs: the first [\d.]+ KiB is no longer held\n$/)]);
  });

  test('of a terminal are a recording with --cast', async () => {
    const id = await started('printf "caf\\303\\251"', { tty: true });
    await call(['wait', id]);
    const { code, stdout } = await call(['logs', '--cast', id]);
    expect([code, parseCast(stdout).text]).toEqual([0, 'café']);
    const pipe = await started('true');
    expect(await call(['logs', '--cast', pipe])).toMatchObject({ code: 125, stderr: expect.stringContaining('[not_a_tty]') });
    expect(await call(['logs', '--cast', '-f', id])).toMatchObject({ code: 2 });
  });

  test('go on over a line that breaks, and say so', async () => {
    await using line = await CuttingProxy.open(gateway.server.url, (count) => (count < 4 ? 2_000 : null));
    const id = await started('for i in $(seq 200); do echo $i; sleep 0.005; done');
    const { code, stdout, stderr } = await call(['logs', '-f', id], { env: { EXEC_GATEWAY_URL: line.url } });
    expect([code, stdout.toString()]).toEqual([0, Array.from({ length: 200 }, (_, i) => `${i + 1}\n`).join('')]);
    expect(stderr).toMatch(/^(exec-gateway logs: connection lost, trying again…\nexec-gateway logs: the connection is back\n)+$/);
  });
});

describe('attach without a terminal', () => {
  test('passes input on with -i, its end too, and gives the exit code', async () => {
    const id = await started('echo first; cat; exit 6', { pipe_stdin: true });
    const { code, stdout } = await call(['attach', '-i', id], { input: Buffer.from('line\n') });
    expect([code, stdout.toString()]).toEqual([6, 'first\nline\n']);
  });

  test('leaves standard input alone without -i, and the process on SIGINT', async () => {
    const id = await started('echo first; cat', { pipe_stdin: true });
    const { child, ended } = start(['attach', id], { input: Buffer.from('line\n') });
    await new Promise<void>((resolve) => child.stdout.once('data', () => resolve()));
    child.kill('SIGINT');
    expect(await ended).toMatchObject({ code: 0, stderr: `exec-gateway attach: left; it goes on as ${id}: exec-gateway attach ${id}\n` });
    expect((await processes())[0]).toMatchObject({ state: 'running', stdin: { open: true, accepted_bytes: 0 } });
  });
});

describe('kill and wait', () => {
  test('end processes, politely or by a signal', async () => {
    const polite = await started('trap "exit 9" TERM; while :; do sleep 0.05; done');
    expect(await prints(['kill', polite])).toBe('');
    const stubborn = await started('trap "" TERM; while :; do sleep 0.05; done');
    expect(await prints(['kill', '--grace', '100ms', stubborn])).toBe('');
    const signalled = await started('sleep 60');
    expect(await prints(['kill', '-s', 'int', signalled])).toBe('');
    expect(await call(['wait', polite, stubborn, signalled])).toMatchObject({ code: 130, stdout: Buffer.alloc(0), stderr: '' });
    expect((await processes()).map(({ exit_code }) => exit_code)).toEqual([expect.any(Number), 137, 130]);
    expect(await prints(['kill', polite])).toBe('');
  });

  test('rm frees the id of one that has ended, and with --force of one that runs', async () => {
    const argv = ['run', '--detach', '--id', 'again', '--', 'sleep', '60'];
    await prints(argv);
    expect(await call(['rm', 'again', 'nobody'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^exec-gateway rm: again: it runs: .*\nexec-gateway rm: nobody: .*\[process_not_found\]/),
    });
    expect(await prints(['rm', '--force', 'again'])).toBe('');
    await prints(argv);
    await prints(['kill', 'again']);
    expect(await prints(['rm', 'again'])).toBe('');
    expect(await processes()).toEqual([]);
  });

  test('tell what they could not do', async () => {
    const id = await started('exit 0');
    await call(['wait', id]);
    const { code, stderr } = await call(['kill', '-s', 'INT', id, 'nobody']);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^exec-gateway kill: .*\[process_exited\].*\nexec-gateway kill: nobody: .*\[process_not_found\]/),
    ]);
    expect(await call(['wait', 'nobody'])).toMatchObject({ code: 125, stderr: expect.stringMatching(/^exec-gateway wait: nobody: /) });
    expect(JSON.parse((await call(['wait', '--json', id])).stdout.toString())).toMatchObject({ process_id: id, exit_code: 0 });
    for (const command of ['logs', 'attach']) {
      expect(await call([command, 'nobody'])).toMatchObject({
        code: 125,
        stderr: expect.stringMatching(/\[process_not_found\] \(exec-gateway ps --all/),
      });
    }
  });
});

describe('a line that breaks', () => {
  test('under run loses nothing, and runs it once', async () => {
    // The answer to the start gets lost; later connections are cut in the middle.
    await using line = await CuttingProxy.open(gateway.server.url, (count) => (count === 0 ? 0 : count < 5 ? 200_000 : null));
    const argv = ['run', '--', 'sh', '-c', 'seq 200000'];
    const { code, stdout, stderr } = await call(argv, { env: { EXEC_GATEWAY_URL: line.url } });
    expect([code, stdout.toString()]).toEqual([0, Array.from({ length: 200_000 }, (_, i) => `${i + 1}\n`).join('')]);
    expect(stderr).toMatch(
      /the gateway cannot be reached, trying again…\n[\s\S]*connection lost, trying again…\n[\s\S]*the connection is back\n/,
    );
    expect((await processes()).length).toBe(1);
  });
});

describe('help', () => {
  test.each(['run', 'ps', 'logs', 'attach', 'kill', 'rm', 'wait', 'cp', 'serve'])(
    'of %s fits a terminal, and is in the list',
    async (command) => {
      const help = await prints([command, '--help']);
      expect(help).toMatch(new RegExp(`^Usage: exec-gateway ${command} `));
      for (const line of help.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
      expect(await prints(['--help'])).toMatch(new RegExp(`^  ${command} `, 'm'));
    },
  );
});

test('a unix socket does as well', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'socket-'));
  const url = `unix:${join(dir, 'gateway')}`;
  const server = await GatewayServer.start({ flags: ['--listen', url] });
  const env = { EXEC_GATEWAY_URL: url, EXEC_GATEWAY_TOKEN: server.token as string };
  const { code, stdout } = await call(['run', '-i', '--', 'cat'], { env, input: Buffer.alloc(3_000_000, 'x') });
  expect([code, stdout.length]).toEqual([0, 3_000_000]);
  expect((await call(['ps', '-a'], { env })).stdout.toString()).toMatch(/closed +0 .* cat$/m);
  await server.stop();
  rmSync(dir, { recursive: true });
});

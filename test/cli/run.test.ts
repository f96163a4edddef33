import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { RemoteExecProcess } from '../../src/client/remote-exec-process.js';
import { treeSnapshot } from '../fs/tree-snapshot.js';
import { CuttingProxy } from '../support/cutting-proxy.js';
import { isRunning, until } from '../support/proc.js';
import { untilStill } from '../support/told.js';
import { RunScene } from './run-scene.js';

const MIB = 1024 * 1024;
const scene = new RunScene({ flags: ['--allow-host', '127.0.0.1'] });
const { gateway, call, sh, start, prints, processes } = scene;
const hash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

describe('output', () => {
  test('comes out apart, byte for byte', async () => {
    const line = `printf 'a\\000\\377\\n'; printf 'e\\376\\n' >&2`;
    const { code, stdout } = await sh(line, [], {});
    expect([code, [...stdout]]).toEqual([0, [97, 0, 255, 10]]);
    expect((await sh('echo out; echo err >&2')).stderr).toBe('err\n');
  });

  test('of 40 MB is whole', async () => {
    const { code, stdout, stderr } = await sh('head -c 40000000 /dev/zero | tr "\\000" x; echo end');
    expect([code, stderr, stdout.length, stdout.subarray(-5).toString()]).toEqual([0, '', 40_000_004, 'xend\n']);
  });

  test('waits for whoever reads it slowly, and is whole', async () => {
    // More than the gateway keeps and the pipe holds; nothing is read before the process stands still.
    const argv = ['sh', '-c', 'head -c 16000000 /dev/zero; echo end >&2'];
    const { child, ended } = start(['run', '--id', 'slow', '--retain-bytes', String(MIB), '--', ...argv]);
    child.stdout.pause();
    await until('it was started', async () => (await processes()).length === 1);
    const { url, token } = gateway.server;
    const there = new RemoteExecProcess({ url, token: token ?? undefined });
    expect(await untilStill(there, 'slow')).toBeLessThan(16_000_000);
    child.stdout.resume();
    const { code, stdout, stderr } = await ended;
    expect([code, stderr, stdout.length]).toEqual([0, 'end\n', 16_000_000]);
  });

  test('that nobody reads any more ends the process, as a pipe does', async () => {
    const { child, ended } = start(['run', '--', 'yes']);
    child.stdout.once('data', () => child.stdout.destroy());
    expect(await ended).toMatchObject({ code: 141, signal: null, stderr: '' });
    expect((await processes()).map(({ signal }) => signal)).toEqual(['SIGPIPE']);
  });

  test('that nobody reads any more ends a process too that ignores SIGPIPE', async () => {
    const { child, ended } = start(['run', '--', 'sh', '-c', 'trap "" PIPE; while :; do echo y; done']);
    child.stdout.once('data', () => child.stdout.destroy());
    expect(await ended).toMatchObject({ code: 141 });
    expect((await processes()).map(({ reason }) => reason)).toEqual(['terminated']);
  });

  test('of what a process leaves behind is not waited for', async () => {
    const { code, stdout, stderr } = await sh('sleep 60 & echo done; exit 4');
    expect([code, stdout.toString()]).toEqual([4, 'done\n']);
    expect(stderr).toMatch(/^exec-gateway run: something that it started goes on, and holds its output: exec-gateway logs -f \w+\n$/);
  });

  test('that is missing is told, and makes it fail', async () => {
    const argv = ['run', '--id', 'lost', '--retain-bytes', '1', '--', 'sh', '-c', 'head -c 300000 /dev/zero; echo end'];
    await gateway.send('PUT', '/processes/lost', { argv: argv.slice(6), retain_bytes: 1 });
    await call(['wait', 'lost']);
    const { code, stdout, stderr } = await call(argv);
    expect([code, stdout.subarray(-4).toString()]).toEqual([125, 'end\n']);
    expect(stderr).toMatch(/^exec-gateway run: \S+ KiB of output are missing here: no longer held when we came for it/);
  });
});

describe('input', () => {
  test('arrives byte for byte, and its end too', async () => {
    const input = randomBytes(20 * MIB + 3);
    const { code, stdout, stderr } = await call(['run', '-i', '--', 'cat'], { input });
    expect([code, stderr, stdout.length, hash(stdout)]).toEqual([0, '', input.length, hash(input)]);
  });

  test('is not read without -i', async () => {
    expect((await call(['run', '--', 'cat'], { input: Buffer.from('x') })).stdout.length).toBe(0);
  });

  test('that the process does not take is left, as in a pipe', async () => {
    const { child, ended } = start(['run', '-i', '--', 'head', '-c', '3'], { input: null });
    const feed = setInterval(() => child.stdin.write(randomBytes(64 * 1024)), 1);
    const { code, stdout } = await ended;
    clearInterval(feed);
    expect([code, stdout.length]).toEqual([0, 3]);
  });

  test('is passed on as it comes', async () => {
    const { child, ended } = start(['run', '-i', '--', 'cat'], { input: null });
    for (const text of ['one\n', 'two\n']) {
      child.stdin.write(text);
      await new Promise<void>((resolve) => {
        child.stdout.on('data', (bytes: Buffer) => bytes.toString().includes(text) && resolve());
      });
    }
    child.stdin.end();
    expect(await ended).toMatchObject({ code: 0 });
  });

  test('a tree goes there and back through tar, to the last byte and mode', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'run-'));
    const at = (name: string) => join(dir, name);
    for (const name of ['from/empty', 'from/deep/er', 'there', 'back']) mkdirSync(at(name), { recursive: true });
    for (const size of [0, 1, 511, 512, 513, 3_000_001]) writeFileSync(at(`from/deep/er/${size}`), randomBytes(size), { mode: 0o640 });
    writeFileSync(Buffer.from(`${at('from')}/\xff\n`, 'latin1'), 'a name that is no text');
    symlinkSync('deep/er/513', at('from/link'));
    const sent = await scene.local(`tar c -C ${at('from')} . | $EG run -i -- tar x -C ${at('there')}`);
    expect(sent).toMatchObject({ code: 0, stderr: '' });
    const fetched = await scene.local(`$EG run -- tar c -C ${at('there')} . | tar x -C ${at('back')}`);
    expect(fetched).toMatchObject({ code: 0, stderr: '' });
    const tree = treeSnapshot(Buffer.from(at('from')));
    for (const name of ['there', 'back']) expect(treeSnapshot(Buffer.from(at(name)))).toEqual(tree);
    rmSync(dir, { recursive: true });
  });
});

describe('the exit code', () => {
  test.each<[string, string[], number, RegExp]>([
    ['is that of the command', ['sh', '-c', 'exit 7'], 7, /^$/],
    ['tells a signal', ['sh', '-c', 'kill -KILL $$'], 137, /^$/],
    ['is 127 for a command that is not there', ['no-such-command'], 127, /^exec-gateway run: .*\[command_not_found\]\n$/],
    ['is 126 for one that cannot be executed', ['/etc/passwd'], 126, /^exec-gateway run: .*\[permission_denied\]\n$/],
  ])('%s', async (_name, argv, wanted, says) => {
    const { code, stderr } = await call(['run', ...argv]);
    expect(code).toBe(wanted);
    expect(stderr).toMatch(says);
  });

  test.each<[string, string[], Record<string, string>, RegExp]>([
    ['a working directory that is not there', ['--cwd', '/no/where'], {}, /\[cwd_not_found\]$/m],
    [
      'a token that is not taken',
      [],
      { EXEC_GATEWAY_TOKEN: 'another-token-altogether' },
      /set EXEC_GATEWAY_TOKEN, or give --token-file. \[unauthorized\]$/m,
    ],
    ['a gateway that is not there', [], { EXEC_GATEWAY_URL: 'http://127.0.0.1:1' }, /cannot be reached: .*\(is it running, and is --url/],
    ['a socket that is not there', [], { EXEC_GATEWAY_URL: 'unix:/no/socket' }, /cannot be reached: .*ENOENT/],
    ['an id that cannot be one', ['--id', 'a b'], {}, /^exec-gateway run: --id takes .*\[invalid_request\]$/m],
    ['an id that is empty', ['--id', ''], {}, /^exec-gateway run: --id takes .*\[invalid_request\]$/m],
    // A variable that is set to nothing counts as not set: it is not what is refused.
    ['input that would be left behind', ['--detach', '-i'], { EXEC_GATEWAY_URL: '' }, /'--detach' cannot be used with option '-i/],
    ['a flag that is not known', ['--cwdd', '/'], {}, /^exec-gateway run: unknown option '--cwdd'/],
    ['a time that is none', ['--timeout', 'soon'], {}, /500ms, 30s, 5m or 2h/],
    ['a label that is none', ['--label', 'x'], {}, /key=value/],
    ['a token file that is not there', ['--token-file', '/no/file'], {}, /^exec-gateway run: --token-file: \/no\/file does not exist\.$/m],
  ])('is 125 for %s', async (_name, flags, env, says) => {
    const { code, stdout, stderr } = await call(['run', ...flags, '--', 'true'], { env });
    expect([code, stdout.toString()]).toEqual([125, '']);
    expect(stderr).toMatch(says);
    expect(stderr).not.toMatch(/ {4}at /);
  });
});

describe('settings', () => {
  test('words after the command are its own', async () => {
    expect(await prints(['run', 'echo', '--cwd', '-i'])).toBe('--cwd -i\n');
  });

  test('the working directory, variables and labels', async () => {
    const flags = ['--cwd', '/usr', '--env', 'A=1=2', '--env', 'HERE', '--env', 'NOT_SET_HERE', '--label', 'team=web', '--label', 'n=1'];
    const { stdout } = await sh('pwd; echo "$A $HERE"', flags, { env: { HERE: 'there' } });
    expect(stdout.toString()).toBe('/usr\n1=2 there\n');
    expect((await processes())[0]?.labels).toEqual({ team: 'web', n: '1' });
  });

  test('a process that takes too long is ended', async () => {
    const { code, stderr } = await call(['run', '--timeout', '0.1s', '--', 'sleep', '60']);
    expect([code, stderr]).toEqual([143, 'exec-gateway run: ended by its --timeout\n']);
  });

  test('an id given twice runs once', async () => {
    const argv = ['run', '--id', 'once', '--', 'sh', '-c', 'echo $$'];
    expect(await prints(argv)).toBe(await prints(argv));
    expect(await call(['run', '--id', 'once', '--', 'true'])).toMatchObject({
      code: 125,
      stderr: expect.stringMatching(/until exec-gateway rm --force ends .* leave --id out. \[process_exists\] \(give another --id/),
    });
  });

  test('--detach prints the id, and leaves it running', async () => {
    const id = (await prints(['run', '--detach', '--', 'sleep', '60'])).trim();
    expect((await processes()).map(({ process_id, state }) => [process_id, state])).toEqual([[id, 'running']]);
  });

  test('--json tells all in one line', async () => {
    const { code, stdout } = await sh('echo out; echo err >&2; exit 3', ['--json']);
    const told = { exit_code: 3, signal: null, reason: 'exited', truncated: false, stdout: 'out\n', stderr: 'err\n' };
    expect([code, JSON.parse(stdout.toString())]).toEqual([3, expect.objectContaining(told)]);
    const { stdout: large } = await sh('head -c 3000000 /dev/zero', ['--json']);
    expect(JSON.parse(large.toString())).toMatchObject({ truncated: true, stdout: '\0'.repeat(MIB) });
  });
});

describe('signals', () => {
  const trapping = 'trap "echo got; exit 9" INT TERM HUP; echo ready; while :; do sleep 0.05; done';
  const ready = (child: ReturnType<typeof start>['child'], word = 'ready') =>
    new Promise<void>((resolve) => {
      child.stdout.on('data', (bytes: Buffer) => bytes.toString().includes(word) && resolve());
    });

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('%s is passed on', async (signal) => {
    const { child, ended } = start(['run', '--', 'sh', '-c', trapping]);
    await ready(child);
    child.kill(signal);
    expect(await ended).toMatchObject({ code: 9, signal: null, stdout: Buffer.from('ready\ngot\n') });
  });

  test('the second one kills', async () => {
    const { child, ended } = start(['run', '--', 'sh', '-c', 'trap "echo no" INT; echo ready; while :; do sleep 0.05; done']);
    await ready(child);
    const told = ready(child, 'no');
    child.kill('SIGINT');
    await told;
    child.kill('SIGINT');
    expect(await ended).toMatchObject({ code: 137, signal: null, stderr: 'exec-gateway run: killing it; once more leaves it\n' });
  });

  test('while the connection is lost, the first one says what becomes of it, the second one leaves', async () => {
    await using line = await CuttingProxy.open(gateway.server.url, () => null);
    const { child, ended } = start(['run', '--', 'sh', '-c', trapping], { env: { EXEC_GATEWAY_URL: line.url } });
    const told = (word: string) => until(word, () => stderr.includes(word));
    let stderr = '';
    child.stderr.on('data', (text: string) => {
      stderr += text;
    });
    await ready(child);
    await line[Symbol.asyncDispose]();
    await told('trying again');
    child.kill('SIGINT');
    await told('passed on when the connection is back; once more leaves it running');
    child.kill('SIGINT');
    expect(await ended).toMatchObject({ code: 130, stderr: expect.stringMatching(/it goes on as (\w+): exec-gateway attach \1/) });
    expect((await processes())[0]?.state).toBe('running');
  });

  test('Ctrl-Z stops it here and there, and fg goes on with both', async () => {
    const { child, ended } = start(['run', '--', 'sh', '-c', 'echo ready; while :; do sleep 0.05; done']);
    await ready(child);
    const pid = (await processes())[0]?.pid as number;
    child.kill('SIGTSTP');
    await until('both are stopped', () => scene.isStopped(pid) && scene.isStopped(child.pid as number));
    child.kill('SIGCONT');
    await until('both go on', () => !scene.isStopped(pid) && !scene.isStopped(child.pid as number));
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({ code: 143 });
  });

  test('SIGKILL of the program leaves the process running', async () => {
    const { child, ended } = start(['run', '--', 'sh', '-c', 'echo ready; sleep 60']);
    await ready(child);
    child.kill('SIGKILL');
    await ended;
    const [process] = await processes();
    expect([process?.state, isRunning(process?.pid as number)]).toEqual(['running', true]);
  });
});

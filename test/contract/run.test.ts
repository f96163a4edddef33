import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { BACKENDS_AND_LAUNCHERS, useBackend } from '../support/backends.js';
import { codeOf, errorOf, readAll, sha256 } from '../support/told.js';

const MIB = 1024 * 1024;
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();

describe.each([...BACKENDS_AND_LAUNCHERS, 'hosted'] as const)('%s', (name) => {
  const backend = useBackend(name);
  const sh = (script: string) => ['sh', '-c', script];

  it('one round trip: both streams, how it ended, how long it took', async () => {
    const result = await backend.process.run({ argv: sh('echo out; echo err >&2; exit 3'), labels: { a: 'b' } });
    expect(result).toMatchObject({ exit_code: 3, signal: null, reason: 'exited', truncated: false });
    expect([text(result.stdout), text(result.stderr)]).toEqual(['out\n', 'err\n']);
    expect(result.duration_ms).toBeGreaterThan(0);
    expect(result.duration_ms).toBeLessThan(10_000);
    expect(await backend.process.get(result.process_id)).toMatchObject({
      state: 'closed',
      exit_code: 3,
      labels: { a: 'b' },
      next_seq: result.next_seq,
    });
  });

  it('on a terminal all output is stdout', async () => {
    const result = await backend.process.run({ argv: sh('test -t 0; echo $?; echo err >&2'), tty: true });
    expect([text(result.stdout), text(result.stderr)]).toEqual(['0\r\nerr\r\n', '']);
  });

  it('a death by signal, an end by timeout', async () => {
    expect(await backend.process.run({ argv: sh('kill -9 $$') })).toMatchObject({ exit_code: 137, signal: 'SIGKILL', reason: 'signaled' });
    const timed_out = { exit_code: 143, signal: 'SIGTERM', reason: 'timed_out' };
    expect(await backend.process.run({ argv: ['sleep', '60'], timeout_ms: 100 })).toMatchObject(timed_out);
  });

  it('input is fed and closed', async () => {
    expect(text((await backend.process.run({ argv: ['cat'], input: 'ü漢😀\n' })).stdout)).toBe('ü漢😀\n');
    expect(text((await backend.process.run({ argv: ['cat'], input: '' })).stdout)).toBe('');
    expect(text((await backend.process.run({ argv: ['cat'] })).stdout)).toBe('');
    const bytes = randomBytes(3 * MIB);
    const result = await backend.process.run({ argv: ['cat'], input_base64: bytes.toString('base64'), max_bytes: 4 * MIB });
    expect(sha256(result.stdout)).toBe(sha256(bytes));
    expect(result.truncated).toBe(false);
  });

  it('input that the program does not read is no error', async () => {
    const result = await backend.process.run({ argv: ['true'], input: 'x'.repeat(2 * MIB) });
    expect(result).toMatchObject({ exit_code: 0, reason: 'exited' });
  });

  it('both inputs, or bad base64, are refused, and nothing is started', async () => {
    const both = backend.process.run({ argv: ['cat'], input: 'a', input_base64: 'YQ==' });
    expect(await errorOf(both)).toMatchObject({ code: 'invalid_request', status: 400 });
    for (const input_base64 of ['YQ', 'Y Q==', '****', 'YR==']) {
      expect(await codeOf(backend.process.run({ argv: ['cat'], input_base64 }))).toBe('invalid_argument');
    }
    expect((await backend.process.list()).processes).toEqual([]);
  });

  it('of each stream the head is kept, and what was cut is told', async () => {
    const argv = sh('seq 1 100000; echo short >&2');
    const cut = await backend.process.run({ argv, max_bytes: 10 });
    expect([text(cut.stdout), text(cut.stderr), cut.truncated]).toEqual(['1\n2\n3\n4\n5\n', 'short\n', true]);
    const exact = await backend.process.run({ argv, max_bytes: 588_895 });
    expect([exact.stdout.length, exact.truncated]).toEqual([588_895, false]);
    const one_less = await backend.process.run({ argv, max_bytes: 588_894 });
    expect([one_less.stdout.length, one_less.truncated]).toEqual([588_894, true]);
    const none = await backend.process.run({ argv, max_bytes: 0 });
    expect([none.stdout.length, none.stderr.length, none.truncated]).toEqual([0, 0, true]);
  });

  it('more is captured than is retained', async () => {
    const result = await backend.process.run({ argv: sh('seq 1 1000000'), retain_bytes: 1000, max_bytes: 8 * MIB });
    expect([result.stdout.length, result.truncated]).toEqual([6_888_896, false]);
  });

  it('when the wait ends first, there is what there is, and the process goes on', async () => {
    const first = await backend.process.run({ argv: sh('echo early; read x; echo late; exit 4'), pipe_stdin: true, wait_ms: 300 });
    expect(first).toMatchObject({ exit_code: null, signal: null, reason: null, truncated: false, next_seq: 2 });
    expect(text(first.stdout)).toBe('early\n');
    expect(await backend.process.get(first.process_id)).toMatchObject({ state: 'running' });
    await backend.process.write(first.process_id, Buffer.from('\n'));
    const rest = await readAll(backend.process, first.process_id, { after_seq: first.next_seq - 1 });
    expect(rest.text()).toBe('late\n');
    expect(rest.exit).toMatchObject({ exit_code: 4 });
  });

  it('a background child that keeps the output delays the answer by 1 s at most', async () => {
    const begun = performance.now();
    const result = await backend.process.run({ argv: sh('sleep 60 & echo hi; exit 7') });
    expect(performance.now() - begun).toBeLessThan(5_000);
    expect(result).toMatchObject({ exit_code: 7, reason: 'exited' });
    expect(text(result.stdout)).toBe('hi\n');
    expect(await backend.process.get(result.process_id)).toMatchObject({ state: 'exited' });
  });

  it('a run under an id that is taken is refused', async () => {
    await backend.process.run({ argv: ['true'], process_id: 'taken' });
    expect(await codeOf(backend.process.run({ argv: ['true'], process_id: 'taken' }))).toBe('process_exists');
  });

  it('a program that cannot be started is refused as in a start', async () => {
    expect(await codeOf(backend.process.run({ argv: ['no-such-cmd-x'] }))).toBe('command_not_found');
    expect(await codeOf(backend.process.run({ argv: ['true'], cwd: '/no/such/dir' }))).toBe('cwd_not_found');
  });

  it('40 runs at the same time lose nothing', async () => {
    const results = await Promise.all(Array.from({ length: 40 }, (_, i) => backend.process.run({ argv: sh(`seq ${i} 20000`) })));
    results.forEach(({ stdout }, i) => {
      expect(text(stdout)).toBe(Array.from({ length: 20_001 - i }, (_, at) => `${at + i}\n`).join(''));
    });
  });
});

import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { STDIN_QUEUE_BYTES, type WriteOptions } from '../../src/protocol/index.js';
import { ALL_BACKENDS, useBackend } from '../support/backends.js';
import { codeOf, errorOf, followAll, readAll, readUntil, sha256 } from '../support/told.js';

const MIB = 1024 * 1024;
const NOTHING = new Uint8Array();
let gates = 0;

describe.each([...ALL_BACKENDS, 'hosted'] as const)('%s', (name) => {
  const backend = useBackend(name);
  const write = (process_id: string, text: string | Uint8Array, query?: WriteOptions) =>
    backend.process.write(process_id, typeof text === 'string' ? Buffer.from(text) : text, query);

  /** A shell script that goes on when the gate is opened. */
  function behindGate(script: string) {
    const gate = join(backend.dir, `gate-${++gates}`);
    execFileSync('mkfifo', [gate]);
    const open = () => writeFileSync(gate, 'open\n');
    return { script: `echo ready; read x < '${gate}'; ${script}`, open };
  }

  it('B03 input for a program that has left disturbs nobody', async () => {
    const other = await backend.start(['cat'], { pipe_stdin: true });
    const flood = new Uint8Array(MIB);
    const codes = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const { process_id } = await backend.start(['true'], { pipe_stdin: true });
        const at_once = await write(process_id, flood).then(
          () => 'accepted',
          (error) => error.code,
        );
        await backend.process.get(process_id, { wait_ms: 20_000 });
        return [at_once, await codeOf(write(process_id, 'late'))];
      }),
    );
    for (const [at_once, late] of codes) {
      expect(['accepted', 'stdin_closed', 'process_exited']).toContain(at_once);
      expect(late).toBe('process_exited');
    }
    await write(other.process_id, 'still here\n', { eof: true });
    expect((await readAll(backend.process, other.process_id)).text()).toBe('still here\n');
  });

  it('B03 a program that closes its input but goes on', async () => {
    const { process_id } = await backend.sh('exec <&-; echo ready; exec sleep 60', { pipe_stdin: true });
    await readUntil(backend.process, process_id, 'ready');
    const outcome = await write(process_id, new Uint8Array(2 * MIB)).catch((error) => error.code);
    expect(outcome).toBe('stdin_closed');
    expect(await errorOf(write(process_id, 'x'))).toMatchObject({ code: 'stdin_closed', status: 409 });
    expect(await backend.process.get(process_id)).toMatchObject({ state: 'running', stdin: { open: false } });
  });

  it('B24 what was queued comes before the end of the input', async () => {
    const { process_id } = await backend.start(['cat'], { pipe_stdin: true, retain_bytes: 8 * MIB });
    const input = randomBytes(5 * MIB);
    const followed = followAll(backend.process, process_id);
    for (let i = 0; i < 20; i++) {
      const end = ((i + 1) * input.length) / 20;
      const written = await write(process_id, input.subarray((i * input.length) / 20, end), { eof: i === 19 });
      expect(written).toEqual({ accepted: true, accepted_bytes: end });
    }
    const told = await followed;
    expect(told.sha256()).toBe(sha256(input));
    expect(told.exit).toMatchObject({ exit_code: 0, signal: null });
  });

  it('B24 an end without any input', async () => {
    const { process_id } = await backend.start(['sort'], { pipe_stdin: true });
    expect(await write(process_id, NOTHING, { eof: true })).toEqual({ accepted: true, accepted_bytes: 0 });
    expect(await readAll(backend.process, process_id)).toMatchObject({ chunks: [], exit: { exit_code: 0 } });
  });

  it('B24 unless asked for, the input is at its end from the start', async () => {
    const started = await backend.start(['cat']);
    expect(started.stdin).toEqual({ open: false, accepted_bytes: 0 });
    expect(await readAll(backend.process, started.process_id)).toMatchObject({ chunks: [], exit: { exit_code: 0 } });
    const { process_id } = await backend.start(['sleep', '60']);
    expect(await errorOf(write(process_id, 'x'))).toMatchObject({ code: 'stdin_closed', status: 409, fields: { accepted_bytes: 0 } });
  });

  it('B24 a second end is no error, more input after it is', async () => {
    const { process_id } = await backend.sh('cat; echo done; exec sleep 60', { pipe_stdin: true });
    await write(process_id, 'abc\n', { eof: true });
    await readUntil(backend.process, process_id, 'done');
    expect(await write(process_id, NOTHING, { eof: true })).toEqual({ accepted: true, accepted_bytes: 4 });
    expect(await errorOf(write(process_id, 'more'))).toMatchObject({ code: 'stdin_closed', fields: { accepted_bytes: 4 } });
    expect(await backend.process.get(process_id)).toMatchObject({ stdin: { open: false, accepted_bytes: 4 } });
  });

  it('on a terminal the end of the input is a typed ^D', async () => {
    const { process_id } = await backend.sh('cat; echo done; exec sleep 60', { tty: true });
    await write(process_id, 'abc\n');
    await readUntil(backend.process, process_id, 'abc\r\nabc');
    await write(process_id, NOTHING, { eof: true });
    await readUntil(backend.process, process_id, 'done');
    expect(await write(process_id, NOTHING, { eof: true })).toEqual({ accepted: true, accepted_bytes: 4 });
    expect(await codeOf(write(process_id, 'more'))).toBe('stdin_closed');
  });

  it('^C typed on a terminal is SIGINT for its foreground', async () => {
    const { process_id } = await backend.sh('echo ready; exec sleep 60', { tty: true });
    await readUntil(backend.process, process_id, 'ready');
    await write(process_id, Buffer.of(3));
    expect((await readAll(backend.process, process_id)).exit).toMatchObject({ exit_code: 130, signal: 'SIGINT' });
  });

  it('with an offset input is taken exactly once', async () => {
    const { process_id } = await backend.start(['cat'], { pipe_stdin: true });
    expect(await write(process_id, 'hello ', { offset: 0 })).toMatchObject({ accepted_bytes: 6 });
    expect(await write(process_id, 'hello ', { offset: 0 })).toMatchObject({ accepted_bytes: 6 });
    expect(await write(process_id, 'lo big ', { offset: 3 })).toMatchObject({ accepted_bytes: 10 });
    expect(await write(process_id, 'b', { offset: 6 })).toMatchObject({ accepted_bytes: 10 });
    expect(await errorOf(write(process_id, 'later', { offset: 11 }))).toMatchObject({
      code: 'stdin_offset_ahead',
      status: 409,
      fields: { accepted_bytes: 10 },
    });
    expect(await write(process_id, 'world\n', { offset: 10, eof: true })).toMatchObject({ accepted_bytes: 16 });
    expect(await write(process_id, 'world\n', { offset: 10, eof: true })).toMatchObject({ accepted_bytes: 16 });
    expect((await readAll(backend.process, process_id)).text()).toBe('hello big world\n');
  });

  it('an exact write is refused whole where others have written', async () => {
    const { process_id } = await backend.start(['cat'], { pipe_stdin: true });
    expect(await write(process_id, 'abc', { offset: 0, exact: true })).toMatchObject({ accepted_bytes: 3 });
    for (const offset of [0, 1, 2]) {
      const refused = { code: 'stdin_offset_behind', status: 409, fields: { accepted_bytes: 3 } };
      expect(await errorOf(write(process_id, 'xyz', { offset, exact: true }))).toMatchObject(refused);
    }
    expect(await codeOf(write(process_id, 'xyz', { offset: 4, exact: true }))).toBe('stdin_offset_ahead');
    await write(process_id, 'end', { offset: 3, exact: true, eof: true });
    expect((await readAll(backend.process, process_id)).text()).toBe('abcend');
  });

  it('with created_at input reaches that process alone, and none that has its id later', async () => {
    const process_id = `again-${backend.name}`;
    const { created_at } = await backend.start(['cat'], { process_id, pipe_stdin: true });
    expect(await write(process_id, 'one', { created_at })).toMatchObject({ accepted_bytes: 3 });
    await backend.process.terminate(process_id, { purge: true });
    const later = await backend.start(['cat'], { process_id, pipe_stdin: true });
    const error = await errorOf(write(process_id, 'two', { created_at, eof: true }));
    expect(error).toMatchObject({ code: 'process_not_found', status: 404, fields: { process_id } });
    expect(error.message).toContain(`another one has its id by now, created at ${later.created_at}`);
    await write(process_id, 'three', { created_at: later.created_at, eof: true });
    expect((await readAll(backend.process, process_id)).text()).toBe('three');
  });

  it('the same input sent by many at once, with its offset, is taken once', async () => {
    const { process_id } = await backend.start(['cat'], { pipe_stdin: true });
    const input = randomBytes(300_000);
    const written = await Promise.all(Array.from({ length: 10 }, () => write(process_id, input, { offset: 0 })));
    for (const { accepted_bytes } of written) expect(accepted_bytes).toBe(300_000);
    await write(process_id, NOTHING, { eof: true });
    expect((await readAll(backend.process, process_id)).sha256()).toBe(sha256(input));
  });

  it('a child that does not read fills a bounded queue, and the rest goes on by offset', async () => {
    const { script, open } = behindGate('exec cat');
    const { process_id } = await backend.sh(script, { pipe_stdin: true, retain_bytes: 8 * MIB });
    await readUntil(backend.process, process_id, 'ready');
    const input = randomBytes(3 * MIB);
    const error = await errorOf(write(process_id, input, { offset: 0, wait_ms: 200 }));
    expect(error).toMatchObject({ code: 'stdin_backpressure', status: 429 });
    let accepted = error.fields.accepted_bytes as number;
    expect(accepted).toBeGreaterThanOrEqual(STDIN_QUEUE_BYTES);
    expect(accepted).toBeLessThanOrEqual(STDIN_QUEUE_BYTES + 2 * MIB);
    expect(await backend.process.get(process_id)).toMatchObject({ stdin: { open: true, accepted_bytes: accepted } });
    expect(await errorOf(write(process_id, 'x', { wait_ms: 0 }))).toMatchObject({ fields: { accepted_bytes: accepted } });
    open();
    ({ accepted_bytes: accepted } = await write(process_id, input.subarray(accepted), { offset: accepted, eof: true, wait_ms: 20_000 }));
    expect(accepted).toBe(input.length);
    const told = await readAll(backend.process, process_id);
    expect(sha256(told.bytes().subarray('ready\n'.length))).toBe(sha256(input));
  });

  it('writes are taken in the order of their arrival, also while they wait', async () => {
    const { script, open } = behindGate('exec sha256sum');
    const { process_id } = await backend.sh(script, { pipe_stdin: true });
    await readUntil(backend.process, process_id, 'ready');
    const input = randomBytes(3 * MIB);
    const { fields } = await errorOf(write(process_id, input, { wait_ms: 0 }));
    const rest = input.subarray(fields.accepted_bytes);
    const half = rest.length >> 1;
    const first = write(process_id, rest.subarray(0, half), { wait_ms: 20_000 });
    // A write that may not wait is refused only after those before it: now the first one is in the queue.
    expect(await codeOf(write(process_id, 'x', { wait_ms: 0 }))).toBe('stdin_backpressure');
    const second = write(process_id, rest.subarray(half), { wait_ms: 20_000, eof: true });
    expect(await codeOf(write(process_id, 'x', { wait_ms: 0 }))).toBe('stdin_backpressure');
    open();
    await Promise.all([first, second]);
    expect((await readAll(backend.process, process_id)).text()).toContain(sha256(input));
  });

  it('B25 a large paste on a terminal arrives whole', async () => {
    const file = join(backend.dir, 'out.bin');
    const script = `stty raw -echo; echo ready; head -c 1000000 > '${file}'`;
    const { process_id } = await backend.sh(script, { tty: true });
    await readUntil(backend.process, process_id, 'ready');
    const input = randomBytes(1_000_000);
    const begun = performance.now();
    for (let at = 0; at < input.length; at += 100_000) {
      const { accepted_bytes } = await write(process_id, input.subarray(at, at + 100_000));
      expect(accepted_bytes).toBe(at + 100_000);
    }
    expect((await readAll(backend.process, process_id)).exit).toMatchObject({ exit_code: 0 });
    expect(performance.now() - begun).toBeLessThan(10_000);
    expect(sha256(readFileSync(file))).toBe(sha256(input));
  });

  it('input is bytes, whatever they are', async () => {
    const { process_id } = await backend.start(['cat'], { pipe_stdin: true });
    const every = Uint8Array.from({ length: 256 }, (_, i) => i);
    await write(process_id, every, { eof: true });
    expect((await readAll(backend.process, process_id)).bytes()).toEqual(Buffer.from(every));
  });
});

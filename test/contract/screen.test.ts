import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ProcessEvent, ScreenOutput, ScreenQuery, TtySize } from '../../src/protocol/index.js';
import { feed, shownBy, viewer } from '../process/screen-model.js';
import { BACKENDS, type Backend, useBackend } from '../support/backends.js';
import { until } from '../support/proc.js';
import { readAll, readUntil } from '../support/told.js';
import { findVim } from '../support/vim.js';

const has_vim = findVim() !== null;

const SIZE = { cols: 80, rows: 24 };
const VIM = ['vim', '-u', 'NONE', '-N'];

/** Waits until the screen shows that. */
async function screenWith(backend: Backend, process_id: string, shows: (screen: ScreenOutput) => boolean, query: ScreenQuery = {}) {
  let screen = await backend.process.screen(process_id, query);
  const ends_at = performance.now() + 20_000;
  while (!shows(screen)) {
    if (performance.now() > ends_at) throw new Error(`The screen never came:\n${screen.text}`);
    screen = await backend.process.screen(process_id, { ...query, after_seq: screen.next_seq - 1, wait_ms: 5_000 });
  }
  return screen;
}

/** All output events up to one, as a viewer from the beginning has seen them. */
async function seenSince(backend: Backend, process_id: string, after_seq: number, next_seq: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  const done = (event: ProcessEvent) => 'seq' in event && event.seq >= next_seq - 1;
  for await (const batch of await backend.process.follow(process_id, { after_seq })) {
    for (const event of batch) if (event.event === 'output' && event.seq < next_seq) chunks.push(event.chunk);
    if (batch.some(done)) break;
  }
  return Buffer.concat(chunks);
}

/** A viewer that came late shows what one shows that was there from the beginning. */
async function expectSamePaint(backend: Backend, process_id: string, size: TtySize = SIZE): Promise<ScreenOutput> {
  const screen = await backend.process.screen(process_id, { paint: true });
  const [first, late] = [viewer(size), viewer(size)];
  await feed(first, await seenSince(backend, process_id, 0, screen.next_seq));
  await feed(late, screen.paint as Uint8Array);
  expect(shownBy(late)).toEqual(shownBy(first));
  return screen;
}

describe.each(BACKENDS)('%s: the screen of a terminal', (name) => {
  const backend = useBackend(name);

  it('is what was printed, with the cursor behind it', async () => {
    const { process_id } = await backend.sh('printf "one\\n  two  \\n\\n"; printf three; read x', { tty: true });
    await readUntil(backend.process, process_id, 'three');
    expect(await backend.process.screen(process_id)).toEqual({
      process_id,
      cols: 80,
      rows: 24,
      cursor: { row: 3, col: 5, visible: true },
      title: null,
      alternate: false,
      text: 'one\n  two\n\nthree',
      paint: null,
      next_seq: expect.any(Number),
      complete: true,
    });
  });

  it('is empty before anything is printed, and keeps its last state after the end', async () => {
    const { process_id } = await backend.sh('read x; echo "bye $x"', { tty: true });
    expect(await backend.process.screen(process_id)).toMatchObject({ text: '', next_seq: 1, cursor: { row: 0, col: 0 } });
    await backend.process.write(process_id, Buffer.from('now\n'));
    const told = await readAll(backend.process, process_id);
    const screen = await backend.process.screen(process_id);
    expect(screen.text).toBe('now\nbye now');
    expect(screen.next_seq).toBe(told.chunks.at(-1)!.seq + 3);
    expect(await backend.process.screen(process_id, { wait_ms: 60_000, after_seq: screen.next_seq - 1, quiet_ms: 1_000 })).toEqual(screen);
  });

  it.skipIf(!has_vim)(
    'shows an editor (skipped without vim: apt-get install vim), over a resize, and what was before it when it has gone',
    async () => {
      const file = join(backend.dir, 'poem.txt');
      writeFileSync(file, Array.from({ length: 100 }, (_, line) => `line ${line + 1}`).join('\n'));
      const { process_id } = await backend.sh(`echo before; ${VIM.join(' ')} ${file}; echo after; read x`, { tty: true });
      const opened = await screenWith(backend, process_id, ({ text }) => text.includes('line 23') && text.includes('poem.txt'));
      expect(opened).toMatchObject({ alternate: true, cols: 80, rows: 24, cursor: { row: 0, col: 0, visible: true } });
      expect(opened.text.split('\n')).toHaveLength(24);
      await expectSamePaint(backend, process_id);
      await backend.process.resize(process_id, { cols: 40, rows: 10 });
      const resized = await screenWith(backend, process_id, ({ text }) => text.includes('line 9') && !text.includes('line 10'));
      expect(resized).toMatchObject({ cols: 40, rows: 10, alternate: true });
      expect(resized.text.split('\n')).toHaveLength(9);
      await backend.process.write(process_id, Buffer.from(':q!\r'));
      const left = await screenWith(backend, process_id, ({ text }) => text.includes('after'));
      expect(left).toMatchObject({ alternate: false, text: 'before\nafter' });
    },
  );

  it.each([
    [
      'colours and styles',
      '\\033[31;1mred\\033[0m \\033[48;5;200mback\\033[K\\033[0m\\n\\033[38;2;1;2;3;4mrgb\\033[m \\033[7;9minverse\\033[m',
    ],
    ['the alternate screen', 'first\\n\\033[?1049h\\033[2;3Hsecond\\033[?25l'],
    ['modes', '\\033[?1h\\033[?2004h\\033[?1002h\\033[?1006h\\033[?1004h\\033=\\033[4h\\033[?7l\\033[5 q'],
    ['scrolling margins', 'a\\nb\\nc\\nd\\033[2;3r\\033[3;1Hx\\n'],
    ['line drawing', '\\033(0lqk\\n'],
    ['wide characters', '漢字 テスト 한글'],
    ['emoji', '😀 👍 x'],
    ['combining characters', 'e\\314\\201 n\\314\\203o'],
    ['a line that went over the end', `${'wrap '.repeat(20)}`],
    ['a full line', `${'x'.repeat(80)}`],
    ['a sequence that is not ended', 'text \\033[3'],
    ['a title that is not ended', 'text \\033]0;title'],
    ['half a character', 'text \\342\\202'],
  ])('can be painted elsewhere: %s', async (_what, printed) => {
    const { process_id } = await backend.sh(`stty -echo; printf '${printed}'; read x; printf '1mend'`, { tty: true });
    await until('it is printed', async () => (await backend.process.get(process_id)).total_bytes > 0);
    const screen = await backend.process.screen(process_id, { wait_ms: 5_000, quiet_ms: 200, paint: true });
    await expectSamePaint(backend, process_id);
    // The late viewer goes on from there as the first one does.
    await backend.process.write(process_id, Buffer.from('\n'));
    await readAll(backend.process, process_id);
    const { next_seq } = await backend.process.get(process_id);
    const [first, late] = [viewer(SIZE), viewer(SIZE)];
    await feed(first, await seenSince(backend, process_id, 0, next_seq));
    await feed(late, screen.paint as Uint8Array);
    await feed(late, await seenSince(backend, process_id, screen.next_seq - 1, next_seq));
    expect(shownBy(late)).toEqual(shownBy(first));
  });

  it('has the title that was set, bounded', async () => {
    const { process_id } = await backend.sh(`printf '\\033]0;%s\\007' "$(head -c 5000 /dev/zero | tr '\\0' t)"; read x`, { tty: true });
    const { title } = await screenWith(backend, process_id, ({ title }) => title !== null);
    expect(title).toBe('t'.repeat(1_024));
  });

  it('is given when it has changed, and when nothing is printed any more', async () => {
    const script = 'stty -echo; echo ready; while read x; do for i in 1 2 3 4 5; do printf "$x$i "; sleep 0.02; done; echo .; done';
    const { process_id } = await backend.sh(script, { tty: true });
    const { next_seq } = await screenWith(backend, process_id, ({ text }) => text === 'ready');
    const waiting = backend.process.screen(process_id, { after_seq: next_seq - 1, wait_ms: 20_000, quiet_ms: 500 });
    await backend.process.write(process_id, Buffer.from('a\n'));
    expect((await waiting).text).toBe('ready\na1 a2 a3 a4 a5 .');
    const begun = performance.now();
    const same = await backend.process.screen(process_id, { after_seq: (await waiting).next_seq - 1, wait_ms: 300 });
    expect(performance.now() - begun).toBeGreaterThan(250);
    expect(same).toEqual(await waiting);
  });

  it('says so when output was missed, keeps the modes, and goes on', async () => {
    const script = "printf '\\033[?1049h\\033[?1h'; seq 1 200000; echo ready; read x; printf '\\033[?1049l'; echo over; read x";
    const { process_id } = await backend.sh(script, { tty: true, retain_bytes: 100_000 });
    await readUntil(backend.process, process_id, 'ready');
    const screen = await backend.process.screen(process_id, { paint: true });
    expect(screen).toMatchObject({ complete: false, alternate: true });
    expect(screen.text).toBe(`${Array.from({ length: 22 }, (_, at) => 199_979 + at).join('\n')}\nready`);
    const late = viewer(SIZE);
    await feed(late, screen.paint as Uint8Array);
    expect([late.buffer.active.type, late.modes.applicationCursorKeysMode]).toEqual(['alternate', true]);
    await backend.process.write(process_id, Buffer.from('\n'));
    expect(await screenWith(backend, process_id, ({ text }) => text.endsWith('over'))).toMatchObject({ alternate: false, complete: false });
  });

  it('of a terminal that is resized between its lines is drawn in that order', async () => {
    const { process_id } = await backend.sh('stty -echo; echo ready; while read x; do echo "$x$x"; done', { tty: true });
    const line = 'abcdefghij'.repeat(6);
    const first = viewer(SIZE);
    await feed(first, Buffer.from('ready\r\n'));
    let { next_seq } = await screenWith(backend, process_id, ({ text }) => text === 'ready');
    for (const cols of [50, 20, 70]) {
      await backend.process.resize(process_id, { cols, rows: 24 });
      await backend.process.write(process_id, Buffer.from(`${line.slice(30)}\n`));
      ({ next_seq } = await backend.process.screen(process_id, { after_seq: next_seq - 1, wait_ms: 20_000, quiet_ms: 100 }));
      first.resize(cols, 24);
      await feed(first, Buffer.from(`${line}\r\n`));
    }
    const screen = await backend.process.screen(process_id, { paint: true });
    const late = viewer({ cols: 70, rows: 24 });
    await feed(late, screen.paint as Uint8Array);
    expect(shownBy(late)).toEqual(shownBy(first));
  });

  it('is there for a terminal alone, of a process that is known, up to a size', async () => {
    const { process_id } = await backend.start(['true']);
    const waits = { after_seq: 0, wait_ms: 60_000, quiet_ms: 60_000 };
    await expect(backend.process.screen(process_id, waits)).rejects.toMatchObject({ code: 'not_a_tty', status: 409 });
    await expect(backend.process.screen('none')).rejects.toMatchObject({ code: 'process_not_found', status: 404 });
    const large = await backend.sh('echo big; read x', { tty: { cols: 65_535, rows: 65_535 } });
    await expect(backend.process.screen(large.process_id)).rejects.toMatchObject({ code: 'screen_too_large', status: 409 });
    await backend.process.resize(large.process_id, { cols: 500, rows: 500 });
    expect(await screenWith(backend, large.process_id, ({ text }) => text === 'big')).toMatchObject({ cols: 500, rows: 500 });
    await backend.process.resize(large.process_id, { cols: 501, rows: 500 });
    await expect(backend.process.screen(large.process_id)).rejects.toMatchObject({ fields: { limit: 250_000 } });
    await backend.process.resize(large.process_id, SIZE);
    await expect(backend.process.screen(large.process_id, { after_seq: 99 })).rejects.toMatchObject({ code: 'cursor_ahead' });
  });
});

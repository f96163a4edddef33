import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TranscriptContent, TranscriptQuery } from '../../src/protocol/index.js';
import { feed, shownBy, viewer } from '../process/screen-model.js';
import { type BackendName, useBackend } from '../support/backends.js';
import { parseCast, played } from '../support/cast.js';
import { codeOf, errorOf, readAll, readUntil } from '../support/told.js';

const RETAIN_BYTES = 20_000;
const WHERE: [BackendName, 'memory' | 'disk'][] = [
  ['local', 'memory'],
  ['remote', 'memory'],
  ['hosted', 'disk'],
  ['proxied', 'disk'],
];

/** Its blocks are lent. */
async function bytesOf(content: TranscriptContent): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const block of content.body) parts.push(Buffer.from(block));
  await content.close();
  return Buffer.concat(parts);
}

const numbers = (count: number, end = '\n') => Array.from({ length: count }, (_, i) => `${i + 1}${end}`).join('');

describe.each(WHERE)('%s, in %s: the transcript of a process', (name, where) => {
  const backend = useBackend(name, { data_dir: where === 'disk', limits: { retain_bytes: RETAIN_BYTES } });
  const ask = (process_id: string, query: TranscriptQuery = {}) => backend.process.transcript(process_id, query);
  const text = async (process_id: string, query: TranscriptQuery = {}) => (await bytesOf(await ask(process_id, query))).toString();

  it('is all that is kept, and says what is not', async () => {
    const { process_id } = await backend.sh('seq 1 50000; echo over');
    await readAll(backend.process, process_id);
    const { gap } = await backend.process.read(process_id);
    const content = await ask(process_id);
    const bytes = await bytesOf(content);
    const all = `${numbers(50_000)}over\n`;
    if (where === 'disk') expect(bytes.toString()).toBe(all);
    else expect([all.endsWith(bytes.toString()), all.length - bytes.length]).toEqual([true, gap?.bytes]);
    expect(content.length).toBe(bytes.length);
    const { next_seq } = await backend.process.get(process_id);
    expect(content.about).toEqual({
      etag: expect.stringMatching(/^"[\w-]+"$/),
      size_bytes: bytes.length,
      next_seq,
      closed: true,
      gaps: gap ? [gap] : [],
    });
    expect(gap === null).toBe(where === 'disk');
  });

  it('is of one stream when asked, and each has its own length', async () => {
    const { process_id } = await backend.sh('seq 1 3000; echo first >&2; seq 1 1000; echo last >&2');
    await readAll(backend.process, process_id);
    const [out, err, all] = [
      await ask(process_id, { stream: 'stdout' }),
      await ask(process_id, { stream: 'stderr' }),
      await ask(process_id),
    ];
    expect((await bytesOf(out)).toString()).toBe(numbers(3_000) + numbers(1_000));
    expect((await bytesOf(err)).toString()).toBe('first\nlast\n');
    expect((await bytesOf(all)).length).toBe((out.length as number) + (err.length as number));
    expect(new Set([out, err, all].map(({ about }) => about.etag)).size).toBe(3);
    expect([await text(process_id, { stream: 'pty' }), await text(process_id, { stream: 'stderr', offset: 6, length: 3 })]).toEqual([
      '',
      'las',
    ]);
  });

  it('comes in parts, as those of a file', async () => {
    const { process_id } = await backend.sh('seq 1 3000; sleep 0.1; seq 1 20000 >&2');
    await readAll(backend.process, process_id);
    for (const stream of [undefined, 'stderr'] as const) {
      const content = await ask(process_id, { stream });
      const { about } = content;
      const whole = await bytesOf(content);
      const place = fc.tuple(fc.nat(whole.length - 1), fc.nat(whole.length));
      await fc.assert(
        fc.asyncProperty(place, async ([offset, length]) => {
          const part = await ask(process_id, { stream, offset, length, if_match: about.etag ?? undefined });
          expect(part.about).toEqual(about);
          expect((await bytesOf(part)).equals(whole.subarray(offset, offset + length))).toBe(true);
        }),
        { numRuns: 15 },
      );
      const error = await errorOf(ask(process_id, { stream, offset: whole.length, length: 1 }));
      expect([error.code, error.fields.size_bytes]).toEqual(['range_not_satisfiable', whole.length]);
    }
    expect(await codeOf(ask(process_id, { if_match: '"another"' }))).toBe('precondition_failed');
    expect(await codeOf(ask('none'))).toBe('process_not_found');
  });

  it('of one that runs is what there is at that moment, and can be asked for again', async () => {
    const { process_id } = await backend.sh('seq 1 1000; echo err >&2; echo one; read x; seq 1 500; echo two; read y', {
      pipe_stdin: true,
    });
    await readUntil(backend.process, process_id, 'one\n');
    await readUntil(backend.process, process_id, 'err\n', { stream: 'stderr' });
    const first = await ask(process_id);
    const seen = (await bytesOf(first)).toString();
    expect([seen.length, first.about.closed]).toEqual([numbers(1_000).length + 'err\none\n'.length, false]);
    await backend.process.write(process_id, Buffer.from('\n'));
    await readUntil(backend.process, process_id, 'two\n');
    const { next_seq: before_seq, etag } = first.about;
    const again = await ask(process_id, { before_seq });
    expect([(await bytesOf(again)).toString(), again.about.etag]).toEqual([seen, etag]);
    expect(
      await text(process_id, {
        before_seq,
        stream: 'stderr',
        if_match: (await ask(process_id, { before_seq, stream: 'stderr', length: 0 })).about.etag ?? '',
      }),
    ).toBe('err\n');
    const later = await ask(process_id);
    expect([(await bytesOf(later)).toString(), later.about.etag === etag]).toEqual([`${seen}${numbers(500)}two\n`, false]);
    expect(await codeOf(ask(process_id, { before_seq: later.about.next_seq + 1 }))).toBe('cursor_ahead');
    expect(await text(process_id, { before_seq: 1 })).toBe('');
  });

  it('of a terminal is a recording too, which shows what its screen does', async () => {
    const script =
      'printf "caf\\303"; sleep 0.2; printf "\\251 \\033[31mred\\033[0m\\n"; read x; seq 1 30; printf "\\033[2;5Hhere"; read y';
    const { process_id } = await backend.sh(script, { tty: { cols: 40, rows: 10, term: 'vt220' } });
    await readUntil(backend.process, process_id, 'red');
    await backend.process.resize(process_id, { cols: 60, rows: 12 });
    await backend.process.write(process_id, Buffer.from('\n'));
    await readUntil(backend.process, process_id, 'here');
    const content = await ask(process_id, { format: 'asciicast' });
    expect([content.about, content.length]).toEqual([
      { etag: null, size_bytes: null, next_seq: expect.any(Number), closed: false, gaps: [] },
      null,
    ]);
    const cast = parseCast(await bytesOf(content));
    expect(cast.header).toMatchObject({ width: 40, height: 10, env: { TERM: 'vt220' } });
    expect(cast.events.filter(([, code]) => code !== 'o').map(([, ...what]) => what)).toEqual([['r', '60x12']]);
    expect(cast.text).toBe(await text(process_id));
    expect(cast.text).toContain('café');
    const { paint } = await backend.process.screen(process_id, { paint: true });
    const shown = viewer({ cols: 60, rows: 12 });
    await feed(shown, paint as Uint8Array);
    expect(shownBy(await played(cast))).toEqual(shownBy(shown));
  });

  it('is a recording also where much was printed, and where its beginning is gone it begins with what is left', async () => {
    const { process_id } = await backend.start(['seq', '1', '50000'], { tty: true });
    await readAll(backend.process, process_id);
    const content = await ask(process_id, { format: 'asciicast' });
    const cast = parseCast(await bytesOf(content));
    expect(cast.text).toBe(await text(process_id));
    expect(cast.text.endsWith('\r\n49999\r\n50000\r\n')).toBe(true);
    expect(content.about.gaps.length).toBe(where === 'disk' ? 0 : 1);
    if (where === 'memory') expect(cast.events[0]?.[0]).toBe(0);
  });

  it('is no recording without a terminal, and an empty one where nothing was printed', async () => {
    const pipe = await backend.start(['true']);
    expect(await codeOf(ask(pipe.process_id, { format: 'asciicast' }))).toBe('not_a_tty');
    expect(await text(pipe.process_id)).toBe('');
    const tty = await backend.start(['true'], { tty: true });
    expect(await codeOf(ask(tty.process_id, { format: 'asciicast', stream: 'stdout' }))).toBe('invalid_request');
    await readAll(backend.process, tty.process_id);
    expect(parseCast(await bytesOf(await ask(tty.process_id, { format: 'asciicast' })))).toMatchObject({
      events: [],
      header: { width: 80, height: 24 },
    });
  });
});

import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MAX_CHUNK_BYTES } from '../../src/protocol/index.js';
import { ALL_BACKENDS, useBackend } from '../support/backends.js';
import { followAll, readAll, sha256 } from '../support/told.js';

const MIB = 1024 * 1024;
const UTF8 = new TextDecoder('utf-8', { fatal: true });

describe.each(ALL_BACKENDS)('%s', (name) => {
  const backend = useBackend(name);

  describe.each([false, true])('tty %s', (tty) => {
    const raw = tty ? 'stty raw -echo; ' : '';

    /** What a long-poll and a follower were told of the same process, from the beginning and at the same time. */
    async function bothWays(script: string) {
      const { process_id } = await backend.sh(raw + script, { tty, retain_bytes: 4 * MIB });
      return Promise.all([readAll(backend.process, process_id), followAll(backend.process, process_id)]);
    }

    it('B21 a character that comes in two parts, and what is no character', async () => {
      const script = "printf '\\342'; sleep 0.2; printf '\\224\\200\\377\\000\\n'";
      for (const told of await bothWays(script)) expect(told.bytes()).toEqual(Buffer.from([0xe2, 0x94, 0x80, 0xff, 0x00, 0x0a]));
    });

    it('B21 a character that comes in two parts soon after each other is told whole', async () => {
      const script = "for i in 1 2 3 4 5 6 7 8 9; do printf '\\342\\224'; printf '\\200'; sleep 0.005; done";
      for (const told of await bothWays(script)) {
        expect(told.text()).toBe('─'.repeat(9));
        for (const { chunk } of told.chunks) expect(UTF8.decode(chunk)).toMatch(/^─+$/);
      }
    });

    it('B21 a random file', async () => {
      const file = join(backend.dir, 'random');
      const bytes = randomBytes(MIB);
      writeFileSync(file, bytes);
      for (const told of await bothWays(`cat '${file}'`)) {
        expect(told.bytes().length).toBe(MIB);
        expect(told.sha256()).toBe(sha256(bytes));
      }
    });

    it('a chunk is at most 64 KiB and ends with a whole character', async () => {
      const file = join(backend.dir, 'text');
      const text = 'a─漢😀\n'.repeat(60_000);
      writeFileSync(file, text);
      for (const told of await bothWays(`cat '${file}'`)) {
        expect(told.text()).toBe(text);
        for (const { chunk } of told.chunks) {
          expect(chunk.length).toBeLessThanOrEqual(MAX_CHUNK_BYTES);
          UTF8.decode(chunk);
        }
      }
    });

    it('an unfinished character at the end is told as it is', async () => {
      for (const told of await bothWays("printf 'abc\\360\\237\\230'")) {
        expect(told.bytes()).toEqual(Buffer.from([0x61, 0x62, 0x63, 0xf0, 0x9f, 0x98]));
        expect(told.exit).toMatchObject({ exit_code: 0 });
      }
    });
  });

  it('a chunk is of one stream, and each stream keeps its order', async () => {
    const { process_id } = await backend.sh('for i in $(seq 1 500); do echo o$i; echo e$i >&2; done');
    const told = await readAll(backend.process, process_id);
    const numbers = (letter: string) => Array.from({ length: 500 }, (_, i) => `${letter}${i + 1}\n`).join('');
    expect(told.text('stdout')).toBe(numbers('o'));
    expect(told.text('stderr')).toBe(numbers('e'));
  });
});

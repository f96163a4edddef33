import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { SearchEnd, SearchLine } from '../../src/protocol/index.js';
import { Scratch } from './scratch.js';

const SHORT = fileURLToPath(new URL('../fixtures/short-of-descriptors.mjs', import.meta.url));

/** Threads of this program. */
const threads = () => readdirSync('/proc/self/task').length;

async function all(found: Promise<AsyncIterable<SearchLine[]>>): Promise<SearchLine[]> {
  const lines: SearchLine[] = [];
  for await (const batch of await found) lines.push(...batch);
  return lines;
}

describe('a search', () => {
  const scratch = new Scratch();

  it('leaves no thread and no descriptor, however it ends', async () => {
    mkdirSync(scratch.path('d/e'), { recursive: true });
    for (let at = 0; at < 50; at++) writeFileSync(scratch.path(`d/e/${at}`), 'x\n'.repeat(10_000));
    const { files } = scratch;
    await all(files.search(scratch.at('d'), { text: 'x' }));
    const before = threads();
    for (let round = 0; round < 5; round++) {
      await all(files.search(scratch.at('d'), { text: 'x', limit: 10 }));
      await expect(files.search(scratch.at('d'), { text: '(', regex: true })).rejects.toMatchObject({ code: 'invalid_pattern' });
      for await (const _batch of await files.search(scratch.at('d'), { text: 'x', limit: 100_000 })) break;
      const given_up = new AbortController();
      const found = await files.search(scratch.at('d'), { text: 'x', limit: 100_000 }, { signal: given_up.signal });
      given_up.abort(new Error('given up'));
      await expect(all(Promise.resolve(found))).rejects.toThrow('given up');
      await files.search(scratch.at('d'), { text: 'x', limit: 100_000, timeout_ms: 100 }); // never read: its time ends it
    }
    await expect.poll(threads, { timeout: 5_000 }).toBeLessThanOrEqual(before);
    await expect.poll(() => readdirSync('/proc/self/fd').filter((fd) => link(fd).startsWith(scratch.top)), { timeout: 5_000 }).toEqual([]);
  });

  it('waits for its turn when many run, and its time runs meanwhile', async () => {
    writeFileSync(scratch.path('many'), 'x\n'.repeat(200_000));
    const { files } = scratch;
    const query = { text: 'x', limit: 100_000, timeout_ms: 1_500 };
    // None of them is read: each waits for its reader until its time is up.
    const held = await Promise.all(Array.from({ length: 4 }, () => files.search(scratch.at('many'), query)));
    const [end] = (await all(files.search(scratch.at('many'), { text: 'x', timeout_ms: 200 }))) as [SearchEnd];
    expect(end).toMatchObject({ done: true, truncated: true, reason: 'timeout', matches: 0, files: 0 });
    const gone = new AbortController();
    const waiting = files.search(scratch.at('many'), { text: 'x' }, { signal: gone.signal });
    gone.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    const patient = await all(files.search(scratch.at('many'), { text: 'x', limit: 1, timeout_ms: 10_000 }));
    expect(patient).toMatchObject([{ line: 1 }, { done: true, reason: 'limit' }]);
    for (const found of held) expect((await all(Promise.resolve(found))).at(-1)).toMatchObject({ done: true, reason: 'timeout' });
  });

  it('stays in the root: links are neither followed nor read', async () => {
    mkdirSync(scratch.path('d'));
    writeFileSync(scratch.path('d/own'), 'secret');
    symlinkSync(scratch.outside(''), scratch.path('d/way'));
    symlinkSync(scratch.outside('secret'), scratch.path('d/link'));
    symlinkSync(scratch.outside('secret'), scratch.path('d/.gitignore'));
    const lines = await all(scratch.files.search({ path: '.' }, { text: 'secret', gitignore: true }));
    expect(lines.map((line) => ('done' in line ? 'done' : line.path))).toEqual(['d/own', 'done']);
  });

  it('that finds no descriptor left says so, wherever it is then, and the next one finds all', () => {
    writeFileSync(scratch.path('file'), 'x');
    const told = execFileSync('prlimit', ['--nofile=200', process.execPath, SHORT, scratch.path('')], { encoding: 'utf8' });
    const [first, ...short] = JSON.parse(told) as string[];
    expect([first, short.pop()]).toEqual(['1 found', '1 found']);
    expect(new Set([...short, '1 found'])).toEqual(new Set(['resource_exhausted', '1 found']));
  });

  it('does not hold up the program', async () => {
    writeFileSync(scratch.path('long'), `${'ab'.repeat(400_000)}\n`.repeat(20));
    let longest = 0;
    let last = performance.now();
    const beat = setInterval(() => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }, 5);
    const end = (await all(scratch.files.search(scratch.at('long'), { text: '(.{1,30}b){30}c', regex: true, timeout_ms: 2_000 }))).at(-1);
    clearInterval(beat);
    expect(end).toMatchObject({ done: true, matches: 0 });
    expect((end as SearchEnd).elapsed_ms).toBeLessThan(3_500);
    expect(longest).toBeLessThan(500);
  });
});

function link(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return '';
  }
}

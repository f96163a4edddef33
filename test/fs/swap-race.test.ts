import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { LocalFileSystem } from '../../src/fs/local-file-system.js';
import { gather, pythonTar } from '../support/tar.js';
import { bytesOf, Scratch } from './scratch.js';

const ROUNDS = 150;

/** Rounds at most, while a call never got through: which of them does is up to the system. */
const MOST_ROUNDS = 10 * ROUNDS;
const scratch = new Scratch();
let swapper: ChildProcess;

beforeEach(async () => {
  mkdirSync(scratch.outside('sub'));
  for (const name of ['secret', 'victim', 'sub/victim', TREASURE]) writeFileSync(scratch.outside(name), TREASURE);
  mkdirSync(scratch.path('arena'));
  const fixture = new URL('../fixtures/swapper.mjs', import.meta.url).pathname;
  swapper = spawn(process.execPath, [fixture, scratch.path('arena'), scratch.outside('')], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(swapper.stdout as NodeJS.ReadableStream, 'data');
});

afterEach(async () => {
  swapper.kill('SIGKILL');
  await once(swapper, 'close');
});

/** What the file outside holds, and the name of another one there. */
const TREASURE = 'TREASURE';

const X = Buffer.from('inside');

/** Every call, by way of the directory or onto the file that is swapped. */
const CALLS: Record<string, (files: LocalFileSystem, round: number) => Promise<unknown>> = {
  read: (files, i) => bytesOf(files.readFile({ path: i % 2 ? 'arena/d/secret' : 'arena/f' })),
  write: (files, i) => files.writeFile({ path: i % 2 ? `arena/d/new-${i}` : 'arena/f' }, X, { create_parents: true }),
  'write anew': (files, i) => files.writeFile({ path: `arena/d/new-${i}` }, X, { if_none_match: '*' }),
  metadata: async (files, i) => {
    const { size_bytes } = await files.getMetadata({ path: i % 2 ? 'arena/d/secret' : 'arena/f' }, { follow_symlinks: true });
    return size_bytes === TREASURE.length ? TREASURE : 'inside';
  },
  list: async (files, i) =>
    (await files.readDirectory({ path: i % 2 ? 'arena/d' : 'arena' }, { depth: 3 })).entries.map(({ path }) => path).join(),
  'create a directory': (files, i) => files.createDirectory({ path: `arena/d/x-${i}/y` }, { recursive: true, mode: 0o700 }),
  'remove a file': (files) => files.remove({ path: 'arena/d/victim' }),
  'remove a tree': (files, i) => files.remove({ path: i % 2 ? 'arena' : 'arena/d' }, { recursive: true }),
  'copy a tree from': async (files, i) => {
    // Where the link itself was copied, it keeps its place from a directory: that would go on for ever.
    if (lstatSync(scratch.path('taken'), { throwIfNoEntry: false })?.isSymbolicLink()) unlinkSync(scratch.path('taken'));
    await files.copy({ source_path: i % 2 ? 'arena' : 'arena/d', destination_path: 'taken', recursive: true, overwrite: true });
    const copied = (await files.readDirectory({ path: 'taken' }, { depth: 5 })).entries;
    for (const { path, type } of copied) if (type === 'file') expect(readFileSync(scratch.path(`taken/${path}`), 'utf8')).toBe('inside');
  },
  'copy a file from': async (files, i) => {
    await files.copy({ source_path: i % 2 ? 'arena/d/secret' : 'arena/f', destination_path: 'taken-file', overwrite: true });
    if (lstatSync(scratch.path('taken-file')).isFile()) expect(readFileSync(scratch.path('taken-file'), 'utf8')).toBe('inside');
  },
  'copy a tree to': (files) => files.copy({ source_path: 'mine', destination_path: 'arena/d', recursive: true, overwrite: true }),
  'move from': (files, i) => files.move({ source_path: 'arena/d/sub', destination_path: `moved-${i}` }),
  'move to': async (files, i) => {
    writeFileSync(scratch.path(`own-${i}`), 'inside');
    await files.move({ source_path: `own-${i}`, destination_path: i % 2 ? `arena/d/moved-${i}` : 'arena/f', overwrite: true });
  },
  'merge to': async (files, i) => {
    mkdirSync(scratch.path(`own-${i}/sub`), { recursive: true });
    writeFileSync(scratch.path(`own-${i}/sub/victim`), 'inside');
    await files.move({ source_path: `own-${i}`, destination_path: 'arena/d', overwrite: true });
  },
  'read a tar of': async (files, i) => (await gather(files.readArchive({ path: i % 2 ? 'arena' : 'arena/d' }))).toString('latin1'),
  'unpack a tar into': (files, i) => files.writeArchive({ path: i % 2 ? 'arena/d' : 'arena' }, i % 2 ? INTO_D : INTO_ARENA),
  search: async (files, i) => {
    const found: unknown[] = [];
    for await (const batch of await files.search({ path: i % 2 ? 'arena' : 'arena/d' }, { text: TREASURE }))
      found.push(...batch.slice(0, -1));
    return JSON.stringify(found);
  },
};

const INTO_D = pythonTar("add('victim', b'inside'); add('sub/victim', b'inside'); add('sub/new', b'inside')");
const INTO_ARENA = pythonTar("add('d/victim', b'inside'); add('f', b'inside'); add('d/sub/new', b'inside')");

test.each(Object.entries(CALLS))(
  'B10: while directory and link are swapped, %s never touches the outside',
  { timeout: 240_000 },
  async (_name, call) => {
    mkdirSync(scratch.path('mine/sub'), { recursive: true });
    for (const name of ['victim', 'sub/victim', 'sub/new']) writeFileSync(scratch.path(`mine/${name}`), 'inside');
    const { files } = scratch;
    const before = snapshot();
    const codes = new Map<string, number>();
    const wasRace = () => codes.size > 1 && codes.has('done');
    for (let round = 0; round < ROUNDS || (!wasRace() && round < MOST_ROUNDS); round++) {
      // What the call before took away is put back first.
      while (!existsSync(scratch.path('arena/d/secret'))) await setImmediate();
      const outcome = await call(files, round).then(
        (result) => {
          expect(String(result)).not.toContain(TREASURE);
          return 'done';
        },
        (error) => {
          if (error.name !== 'GatewayError') throw error;
          return error.code;
        },
      );
      codes.set(outcome, (codes.get(outcome) ?? 0) + 1);
    }
    expect(snapshot()).toEqual(before);
    expect([...codes.keys()]).not.toContain('file_error');
    // It was a race: the call found the directory sometimes, and the link or nothing at other times.
    expect(codes.size).toBeGreaterThan(1);
    expect(codes.get('done')).toBeGreaterThan(0);
  },
);

/** All that is outside: what it is, when it was changed, and what it holds. */
function snapshot(directory = scratch.outside('')): unknown[] {
  const { ino, mtimeNs, ctimeNs } = lstatSync(directory, { bigint: true });
  const entries = readdirSync(directory, { withFileTypes: true }).map((entry) => {
    const path = join(directory, entry.name);
    return entry.isDirectory() ? snapshot(path) : [path, lstatSync(path, { bigint: true }).ctimeNs, readFileSync(path, 'utf8')];
  });
  return [directory, ino, mtimeNs, ctimeNs, entries];
}

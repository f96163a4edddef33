import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileRoot } from '../../src/fs/file-root.js';
import { FileUploads } from '../../src/fs/file-uploads.js';
import { NameLock } from '../../src/fs/name-lock.js';
import { UnfinishedUploads } from '../../src/fs/unfinished-uploads.js';
import { MAX_UPLOAD_BYTES, MAX_UPLOADS } from '../../src/protocol/index.js';
import { until } from '../support/proc.js';
import { codeOf } from '../support/told.js';

let dir = '';
const opened: FileUploads[] = [];

function uploads(expiry_ms?: number, root?: string): FileUploads {
  const made = new FileUploads(new FileRoot(root), NameLock.shared, expiry_ms);
  opened.push(made);
  return made;
}

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'uploads-'));
});
afterEach(() => {
  for (const one of opened.splice(0)) one.close();
  rmSync(dir, { recursive: true, force: true });
});

describe('expiry', () => {
  it('an upload that nobody goes on with is removed when its time is over', async () => {
    const path = join(dir, 'file');
    const soon = uploads(50);
    const { upload_id } = await soon.create({ path }, 10);
    expect(readdirSync(dir)).toHaveLength(1);
    await until('nothing is there', () => readdirSync(dir).length === 0);
    expect(await codeOf(soon.get({ path, upload_id, size_bytes: 10 }))).toBe('upload_not_found');
  });

  it('what an earlier gateway left is removed with the first upload to its directory, and nothing else', async () => {
    const before = uploads();
    await before.create({ path: join(dir, 'old') }, 10);
    writeFileSync(join(dir, 'other'), '');
    const now = uploads(-1);
    await now.create({ path: join(dir, 'new') }, 0);
    expect(readdirSync(dir).sort()).toEqual(['new', 'other']);
  });

  it('an upload that has expired is not gone on with', async () => {
    const path = join(dir, 'file');
    const { upload_id } = await uploads().create({ path }, 10);
    expect(await codeOf(uploads(-1).append({ path, upload_id, size_bytes: 10 }, 0, Buffer.from('x')))).toBe('upload_not_found');
    expect(readdirSync(dir)).toEqual([]);
  });
});

describe('what is not an upload', () => {
  it('a link or a directory with the name of one is not written to', async () => {
    const path = join(dir, 'file');
    const all = uploads();
    const { upload_id } = await all.create({ path }, 10);
    const [name] = readdirSync(dir) as [string];
    writeFileSync(join(dir, 'victim'), '');
    rmSync(join(dir, name));
    symlinkSync('victim', join(dir, name));
    expect(await codeOf(all.append({ path, upload_id, size_bytes: 10 }, 0, Buffer.from('x')))).toBe('upload_not_found');
    rmSync(join(dir, name));
    mkdirSync(join(dir, name));
    expect(await codeOf(all.append({ path, upload_id, size_bytes: 10 }, 0, Buffer.from('x')))).toBe('upload_not_found');
  });

  it('nothing begins outside the root', async () => {
    mkdirSync(join(dir, 'root'));
    const confined = uploads(undefined, join(dir, 'root'));
    expect(await codeOf(confined.create({ path: '../file' }, 1))).toBe('path_outside_root');
    symlinkSync('..', join(dir, 'root/up'));
    expect(await codeOf(confined.create({ path: 'up/file' }, 1))).toBe('path_outside_root');
    expect(readdirSync(dir)).toEqual(['root']);
  });
});

describe('limits', () => {
  const upload = (number: number, size_bytes = 1) => ({ path: 'x', upload_id: String(number), size_bytes });

  it('so many, and so many bytes', () => {
    const known = new UnfinishedUploads(1e6, () => {});
    for (let i = 0; i < MAX_UPLOADS; i++) known.touch(upload(i));
    expect(() => known.touch(upload(-1))).toThrow(expect.objectContaining({ code: 'too_many_uploads', fields: { limit: MAX_UPLOADS } }));
    known.touch(upload(1));
    known.forget('0');
    expect(() => known.touch(upload(-1, MAX_UPLOAD_BYTES))).toThrow(expect.objectContaining({ fields: { limit: MAX_UPLOAD_BYTES } }));
    known.touch(upload(-1, MAX_UPLOAD_BYTES - MAX_UPLOADS + 1));
    known.close();
  });

  it('hold for many that are begun at once, and for what an earlier gateway left', async () => {
    const before = uploads();
    const path = join(dir, 'left');
    const size_bytes = MAX_UPLOAD_BYTES;
    const { upload_id } = await before.create({ path }, size_bytes);
    const now = uploads();
    const begun = await Promise.allSettled(
      Array.from({ length: 3 }, (_, i) => now.create({ path: join(dir, `${i}`) }, MAX_UPLOAD_BYTES / 2)),
    );
    expect(begun.map((one) => (one.status === 'fulfilled' ? 'begun' : one.reason.code)).sort()).toEqual([
      'begun',
      'begun',
      'too_many_uploads',
    ]);
    expect(await codeOf(now.append({ path, upload_id, size_bytes }, 0, Buffer.from('x')))).toBe('too_many_uploads');
  });

  it('one that does not begin is not counted', async () => {
    const all = uploads();
    const begin = (below: string) => all.create({ path: join(dir, below) }, MAX_UPLOAD_BYTES);
    expect(await codeOf(begin('none/x'))).toBe('path_not_found');
    expect(await begin('file')).toMatchObject({ complete: false });
  });

  it('the last thousand finished ones are remembered', () => {
    const known = new UnfinishedUploads(1e6, () => {});
    for (let i = 0; i < 1_001; i++) known.finish(upload(i));
    expect([0, 1, 1_000].map((i) => known.isFinished(upload(i)))).toEqual([false, true, true]);
    known.close();
  });
});

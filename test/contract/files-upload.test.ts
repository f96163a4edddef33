import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MAX_UPLOAD_BYTES, type UploadName } from '../../src/protocol/index.js';
import { BACKENDS, useBackend } from '../support/backends.js';
import { until } from '../support/proc.js';
import { codeOf, errorOf } from '../support/told.js';

describe.each(BACKENDS)('%s', (name) => {
  const backend = useBackend(name);
  let dir = '';
  let path = '';

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'uploads-'));
    path = join(dir, 'file');
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  const begin = async (size_bytes: number, at = path): Promise<UploadName> => {
    const { upload_id } = await backend.files.createUpload({ path: at }, size_bytes);
    return { path: at, upload_id, size_bytes };
  };
  const names = () => readdirSync(dir).sort();
  /** Resolves when so many bytes are in the file beside the target. */
  const arrived = (bytes: number) => until('the part is here', () => names().some((name) => statSync(join(dir, name)).size === bytes));
  /** A body that ends as `end` does. */
  async function* body(parts: Uint8Array[], end: Promise<unknown>) {
    yield* parts;
    await end;
  }

  it('in parts, with the file in its place at the last byte and nothing left beside it', async () => {
    const bytes = randomBytes(300_000);
    const created = await backend.files.createUpload({ path }, bytes.length);
    expect(created).toMatchObject({ size_bytes: 300_000, offset_bytes: 0, complete: false });
    expect(Date.parse(created.expires_at!) - Date.now()).toBeGreaterThan(86_000_000);
    const upload = { path, upload_id: created.upload_id, size_bytes: bytes.length };
    for (let at = 0; at < bytes.length; at += 100_000) {
      expect(names()).not.toContain('file');
      const told = await backend.files.appendUpload(upload, at, bytes.subarray(at, at + 100_000));
      expect(told).toMatchObject({ offset_bytes: at + 100_000, complete: at === 200_000 });
    }
    expect(readFileSync(path).equals(bytes)).toBe(true);
    expect(names()).toEqual(['file']);
    expect(statSync(path).mode & 0o777).toBe(0o666 & ~process.umask());
    // The last answer may have been lost.
    expect(await backend.files.getUpload(upload)).toMatchObject({ offset_bytes: 300_000, complete: true, expires_at: null });
    expect(await backend.files.appendUpload(upload, 300_000, Buffer.alloc(0))).toMatchObject({ complete: true });
    // Of this file alone.
    for (const wrong of [{ path: join(dir, 'other') }, { size_bytes: 1 }]) {
      expect(await codeOf(backend.files.getUpload({ ...upload, ...wrong }))).toBe('upload_not_found');
    }
  });

  it.each([1, 5, 9, MAX_UPLOAD_BYTES, Number.MAX_SAFE_INTEGER])(
    'an address that says another size (%i) names nothing',
    async (size_bytes) => {
      const upload = await begin(10);
      await backend.files.appendUpload(upload, 0, Buffer.from('abcdef'));
      const wrong = { ...upload, size_bytes };
      expect(await codeOf(backend.files.getUpload(wrong))).toBe('upload_not_found');
      expect(await codeOf(backend.files.appendUpload(wrong, 6, Buffer.from('g')))).toBe('upload_not_found');
      expect(await codeOf(backend.files.cancelUpload(wrong))).toBe('upload_not_found');
      expect(await backend.files.createUpload({ path: join(dir, 'other') }, 1)).toMatchObject({ complete: false });
      expect(await backend.files.appendUpload(upload, 6, Buffer.from('ghij'))).toMatchObject({ complete: true });
      expect(readFileSync(path, 'utf8')).toBe('abcdefghij');
    },
  );

  it('a part that breaks off is kept as far as it came, and another one has to begin there', async () => {
    const upload = await begin(10);
    const breaks = body(
      [Buffer.from('abcd')],
      arrived(4).then(() => {
        throw new Error('The line broke.');
      }),
    );
    await expect(backend.files.appendUpload(upload, 0, breaks)).rejects.toThrow('The line broke.');
    expect(await backend.files.getUpload(upload)).toMatchObject({ offset_bytes: 4, complete: false });
    expect(await errorOf(backend.files.appendUpload(upload, 0, Buffer.from('abcdefghij')))).toMatchObject({
      code: 'upload_offset_mismatch',
      fields: { accepted_bytes: 4 },
    });
    await backend.files.appendUpload(upload, 4, Buffer.from('efghij'));
    expect(readFileSync(path, 'utf8')).toBe('abcdefghij');
  });

  it('the latest call ends the one before, which may hang', async () => {
    const upload = await begin(8);
    let release = () => {};
    const hangs = body(
      [Buffer.from('abcd')],
      new Promise<void>((resolve) => {
        release = resolve;
      }),
    );
    const first = codeOf(backend.files.appendUpload(upload, 0, hangs));
    await arrived(4);
    const second = await backend.files.appendUpload(upload, 4, Buffer.from('efgh'));
    expect(second).toMatchObject({ complete: true });
    release();
    expect(await first).toBe('upload_taken_over');
    expect(readFileSync(path, 'utf8')).toBe('abcdefgh');
  });

  it('of many at once one goes on, and no bytes are mixed', async () => {
    const upload = await begin(40_000);
    const results = await Promise.allSettled(
      Array.from({ length: 8 }, (_, i) => backend.files.appendUpload(upload, 0, Buffer.alloc(40_000, 65 + i))),
    );
    const done = results.filter(({ status }) => status === 'fulfilled');
    expect(done).toHaveLength(1);
    for (const result of results) {
      if (result.status === 'rejected') expect(['upload_taken_over', 'upload_offset_mismatch']).toContain(result.reason.code);
    }
    const content = readFileSync(path);
    expect(content.every((byte) => byte === content[0])).toBe(true);
    expect(content).toHaveLength(40_000);
  });

  it('the conditions and the mode are those of the last part', async () => {
    writeFileSync(path, 'old');
    chmodSync(path, 0o640);
    const { etag } = await backend.files.getMetadata({ path });
    const upload = await begin(3);
    writeFileSync(path, 'changed');
    expect(await codeOf(backend.files.appendUpload(upload, 0, Buffer.from('new'), { if_match: [etag!] }))).toBe('precondition_failed');
    expect(readFileSync(path, 'utf8')).toBe('changed');
    // The last byte is to be sent again: an upload that looks whole is one. To ask changes nothing.
    const [kept] = names().filter((name) => name !== 'file') as [string];
    expect(await backend.files.getUpload(upload)).toMatchObject({ offset_bytes: 2, complete: false });
    expect(statSync(join(dir, kept)).size).toBe(3);
    await backend.files.appendUpload(upload, 2, Buffer.from('w'));
    expect(readFileSync(path, 'utf8')).toBe('new');
    expect(statSync(path).mode & 0o777).toBe(0o640);
    expect(await codeOf(backend.files.createUpload({ path }, 1, { if_none_match: '*' }))).toBe('precondition_failed');
  });

  it('through a link to its target, into directories that are made, of no byte at all', async () => {
    symlinkSync('target', join(dir, 'link'));
    const upload = await begin(2, join(dir, 'link'));
    await backend.files.appendUpload(upload, 0, Buffer.from('ab'));
    expect(readFileSync(join(dir, 'target'), 'utf8')).toBe('ab');
    const deep = await backend.files.createUpload({ path: join(dir, 'a/b/c') }, 0, { create_parents: true });
    expect(deep).toMatchObject({ complete: true, expires_at: null });
    expect(statSync(join(dir, 'a/b/c')).size).toBe(0);
  });

  it('given up, unknown, too long, or for what is no file', async () => {
    const upload = await begin(3);
    expect(await codeOf(backend.files.appendUpload(upload, 0, Buffer.from('abcd')))).toBe('payload_too_large');
    expect(await backend.files.getUpload(upload)).toMatchObject({ offset_bytes: 0 });
    await backend.files.cancelUpload(upload);
    expect(names()).toEqual([]);
    expect(await codeOf(backend.files.getUpload(upload))).toBe('upload_not_found');
    expect(await codeOf(backend.files.cancelUpload(upload))).toBe('upload_not_found');
    expect(await codeOf(backend.files.getUpload({ ...upload, upload_id: '../../../../../../etc/x' }))).toBe('upload_not_found');
    expect(await codeOf(backend.files.createUpload({ path: dir }, 1))).toBe('is_a_directory');
    expect(await codeOf(backend.files.createUpload({ path: join(dir, 'none/x') }, 1))).toBe('path_not_found');
  });
});

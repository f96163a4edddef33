import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Problem } from '../../src/protocol/index.js';
import { UPLOAD_TYPE } from '../../src/protocol/upload-type.js';
import { useGateway } from './use-gateway.js';

const gateway = useGateway();
let dir = '';
let file = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'conditions-'));
  file = join(dir, 'a file');
  writeFileSync(file, 'old');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const query = (path: string, more: Record<string, string> = {}) => `?${new URLSearchParams({ path, ...more })}`;
const problem = async (reply: Response) => (await reply.json()) as Problem;
const etag = async () => (await gateway.fetch(`/fs/file${query(file)}`, { method: 'HEAD' })).headers.get('etag') as string;

const VALUES = { 'If-Match': '"x"', 'If-None-Match': '"x"', 'If-Unmodified-Since': 'Thu, 15 Jan 2099 09:30:00 GMT' };
type Condition = keyof typeof VALUES;

describe('a change under a condition that is not known', () => {
  const transfer = () => ({
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ source_path: file, destination_path: join(dir, 'new') }),
  });
  const upload = '/fs/uploads/AAAAAAAAAAAAAAAAAAAAAA';
  const cases: [string, Condition[], () => [string, RequestInit]][] = [
    ['DELETE /fs/entry', ['If-Match'], () => [`/fs/entry${query(file)}`, {}]],
    ['POST /fs/move', [], () => ['/fs/move', transfer()]],
    ['POST /fs/copy', [], () => ['/fs/copy', transfer()]],
    ['PUT /fs/directory', [], () => [`/fs/directory${query(join(dir, 'new'))}`, {}]],
    ['PUT /fs/archive', [], () => [`/fs/archive${query(join(dir, 'new'))}`, { body: Buffer.alloc(1024) }]],
    ['POST /fs/uploads', ['If-Match', 'If-None-Match'], () => [`/fs/uploads${query(file)}`, { headers: { 'upload-length': '1' } }]],
    ['PATCH /fs/uploads', ['If-Match', 'If-None-Match'], () => [upload + query(file, { size_bytes: '1' }), { body: 'x' }]],
    ['DELETE /fs/uploads', [], () => [upload + query(file, { size_bytes: '1' }), {}]],
  ];

  it.each(cases)('is refused, and nothing is changed: %s', async (name, known, request) => {
    const [address, init] = request();
    for (const [field, value] of Object.entries(VALUES).filter(([field]) => !known.includes(field as Condition))) {
      const method = name.split(' ')[0] as string;
      const reply = await gateway.fetch(address, {
        method,
        ...init,
        headers: { ...(init.headers as Record<string, string>), [field]: value },
      });
      expect(await problem(reply)).toMatchObject({ status: 400, code: 'invalid_request', field, detail: expect.stringContaining(field) });
    }
    expect([readdirSync(dir), readFileSync(file, 'utf8')]).toEqual([['a file'], 'old']);
  });
});

describe('a removal by entity tag', () => {
  const remove = (if_match: string) => gateway.fetch(`/fs/entry${query(file)}`, { method: 'DELETE', headers: { 'if-match': if_match } });

  it('spares the file that has changed, and takes the one that has not', async () => {
    const before = await etag();
    writeFileSync(file, 'changed');
    expect(await problem(await remove(before))).toMatchObject({ status: 412, code: 'precondition_failed', etag: await etag() });
    expect(await problem(await remove('x'))).toMatchObject({ status: 400, field: 'If-Match' });
    expect(readFileSync(file, 'utf8')).toBe('changed');
    expect(await (await remove(`"x", ${await etag()}`)).json()).toEqual({ removed: true });
  });
});

describe('the conditions that an upload began with', () => {
  const begin = async (headers: Record<string, string>) => {
    const reply = await gateway.fetch(`/fs/uploads${query(file)}`, { method: 'POST', headers: { 'upload-length': '3', ...headers } });
    expect(reply.status).toBe(201);
    return `/fs/${reply.headers.get('location')}`;
  };
  const send = (address: string, offset: number, body: string, headers: Record<string, string> = {}) =>
    gateway.fetch(address, {
      method: 'PATCH',
      headers: { 'upload-offset': String(offset), 'content-type': UPLOAD_TYPE, ...headers },
      body,
    });

  it('hold when it ends, without being said again', async () => {
    const address = await begin({ 'if-match': `"x", ${await etag()}` });
    expect((await send(address, 0, 'ne')).status).toBe(204);
    writeFileSync(file, 'changed');
    expect(await problem(await send(address, 2, 'w'))).toMatchObject({ status: 412, code: 'precondition_failed', etag: await etag() });
    expect(readFileSync(file, 'utf8')).toBe('changed');
    // What has arrived stays, for a caller who has looked at the change.
    expect((await send(address, 2, 'w', { 'if-match': await etag() })).status).toBe(204);
    expect(readFileSync(file, 'utf8')).toBe('new');
  });

  it('let nothing be overwritten that was not there, until it is gone or a part says otherwise', async () => {
    for (const way of ['it is gone', 'a part says otherwise']) {
      rmSync(file);
      const address = await begin({ 'if-none-match': '*' });
      writeFileSync(file, 'of another');
      expect((await send(address, 0, 'new')).status).toBe(412);
      expect(readFileSync(file, 'utf8')).toBe('of another');
      if (way === 'it is gone') rmSync(file);
      expect((await send(address, 2, 'w', way === 'it is gone' ? {} : { 'if-match': '*' })).status).toBe(204);
      expect([readFileSync(file, 'utf8'), readdirSync(dir)]).toEqual(['new', ['a file']]);
    }
  });

  it('are checked in an address too', async () => {
    const address = await begin({});
    expect(await problem(await send(`${address}&if_match=x`, 0, 'new'))).toMatchObject({ status: 400, code: 'invalid_request' });
  });
});

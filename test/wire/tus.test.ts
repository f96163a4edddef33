import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Upload, type UploadOptions } from 'tus-js-client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { GatewayServer } from '../support/gateway-server.js';
import { Uplink } from '../support/uplink.js';

const run = promisify(execFile);
const ALLOW = ['--allow-host', '127.0.0.1', '--log-level', 'warn'];

let dir = '';
let path = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'tus-'));
  path = join(dir, 'big file.bin');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe.each(['a gateway', 'a gateway in front of a gateway'])('%s', (which) => {
  const servers: GatewayServer[] = [];
  let server: GatewayServer;
  let secrets = '';

  beforeAll(async () => {
    server = await GatewayServer.start({ flags: ALLOW });
    servers.push(server);
    if (which === 'a gateway') return;
    secrets = mkdtempSync(join(tmpdir(), 'tus-token-'));
    writeFileSync(join(secrets, 'token'), `${server.token}\n`, { mode: 0o600 });
    server = await GatewayServer.start({ flags: [...ALLOW, '--upstream', server.url, '--upstream-token-file', join(secrets, 'token')] });
    servers.push(server);
  });
  afterAll(async () => {
    for (const started of servers.toReversed()) await started.stop();
    if (secrets) rmSync(secrets, { recursive: true });
  });

  /** Sends with the client that users have; `url` is the address of the upload. */
  function client(bytes: Buffer, url: string, options: Partial<UploadOptions> = {}): { upload: Upload; done: Promise<void> } {
    let upload!: Upload;
    const done = new Promise<void>((resolve, reject) => {
      upload = new Upload(bytes, {
        endpoint: `${url}/fs/uploads?${new URLSearchParams({ path })}`,
        headers: { authorization: `Bearer ${server.token}` },
        retryDelays: Array.from({ length: 60 }, () => 5),
        onError: reject,
        onSuccess: () => resolve(),
        ...options,
      });
      upload.start();
    });
    return { upload, done };
  }

  const send = (...input: Parameters<typeof client>) => client(...input).done;

  it.each([
    ['whole', Number.POSITIVE_INFINITY],
    ['in chunks', 1_000_000],
  ])('tus-js-client sends a file %s', async (_how, chunkSize) => {
    const bytes = randomBytes(5_000_001);
    await send(bytes, server.url, { chunkSize });
    expect(readFileSync(path).equals(bytes)).toBe(true);
    expect(readdirSync(dir)).toEqual(['big file.bin']);
  });

  it('pieces that are to be put together are refused, and never stand for the file; so are checksums', async () => {
    writeFileSync(path, 'as it was');
    await expect(send(randomBytes(1_000_000), server.url, { parallelUploads: 2, retryDelays: [] })).rejects.toThrow(/parallelUploads: 1/);
    expect(readFileSync(path, 'utf8')).toBe('as it was');
    expect(readdirSync(dir)).toEqual(['big file.bin']);
    const begun = await server.fetch(`/fs/uploads?${new URLSearchParams({ path })}`, { method: 'POST', headers: { 'upload-length': '3' } });
    const location = begun.headers.get('location');
    const headers = { 'upload-offset': '0', 'content-type': 'application/offset+octet-stream', 'upload-checksum': 'sha1 AAAA' };
    const part = await server.fetch(`/fs/${location}`, { method: 'PATCH', headers, body: 'abc' });
    expect([part.status, await part.json()]).toEqual([400, expect.objectContaining({ field: 'Upload-Checksum' })]);
    expect(readFileSync(path, 'utf8')).toBe('as it was');
    await server.fetch(`/fs/${location}`, { method: 'DELETE' });
  });

  it('tus-js-client gets through a line that is cut in the middle again and again, and sends nothing twice', async () => {
    const bytes = randomBytes(6_000_000);
    await using line = await Uplink.open(server.url, (count) => (count < 20 ? 400_000 : null));
    const offsets: number[] = [];
    await send(bytes, line.url, {
      onAfterResponse: (request, response) => {
        if (request.getMethod() === 'HEAD') offsets.push(Number(response.getHeader('upload-offset')));
      },
    });
    expect(readFileSync(path).equals(bytes)).toBe(true);
    expect(line.cuts).toBeGreaterThan(5);
    expect(offsets.length).toBeGreaterThan(3);
    expect(offsets).toEqual([...offsets].sort((a, b) => a - b));
    expect(offsets.at(-1)).toBeGreaterThan(1_000_000);
    expect(readdirSync(dir)).toEqual(['big file.bin']);
  });

  it('an upload goes on after a restart of the gateway', async () => {
    const bytes = randomBytes(3_000_000);
    await using line = await Uplink.open(server.url, () => 700_000);
    const { upload, done } = client(bytes, line.url, { retryDelays: null });
    await expect(done).rejects.toThrow('failed to upload chunk');
    if (which === 'a gateway') {
      const { port } = new URL(server.url);
      await server.stop();
      server = await GatewayServer.start({ flags: [...ALLOW, '--listen', `127.0.0.1:${port}`] });
      servers.splice(0, 1, server);
    }
    const { pathname, search } = new URL(upload.url as string);
    const told = (await (await server.fetch(pathname + search)).json()) as { offset_bytes: number };
    // What a gateway in between has on its way is lost when the line before it breaks.
    expect(told.offset_bytes).toBeGreaterThanOrEqual(which === 'a gateway' ? 1 : 0);
    await send(bytes, server.url, { uploadUrl: server.url + pathname + search });
    expect(readFileSync(path).equals(bytes)).toBe(true);
    expect(readdirSync(dir)).toEqual(['big file.bin']);
  });

  it('curl alone: begin, send a part, ask, send the rest, give up', async () => {
    const curl = async (...args: string[]) => (await run('curl', ['-sS', '-H', `Authorization: Bearer ${server.token}`, ...args])).stdout;
    const begun = await curl('-i', '-X', 'POST', '-H', 'Upload-Length: 6', `${server.url}/fs/uploads?path=${encodeURIComponent(path)}`);
    expect(begun).toMatch(/^HTTP\/1.1 201 /);
    expect(begun).toMatch(/^tus-resumable: 1.0.0\r$/m);
    expect(begun).toMatch(/^upload-expires: .* GMT\r$/m);
    const at = new URL(/^location: (\S+)/m.exec(begun)?.[1] as string, `${server.url}/fs/uploads`).href;
    const part = ['-X', 'PATCH', '-H', 'Content-Type: application/offset+octet-stream'];
    expect(await curl('-i', ...part, '-H', 'Upload-Offset: 0', '--data-binary', 'abc', at)).toMatch(
      /^HTTP\/1.1 204 [\s\S]*^upload-offset: 3\r$/m,
    );
    expect(JSON.parse(await curl(at))).toMatchObject({ size_bytes: 6, offset_bytes: 3, complete: false });
    expect(await curl('-I', at)).toMatch(
      /^HTTP\/1.1 200 [\s\S]*^cache-control: no-store\r[\s\S]*^upload-offset: 3\r\nupload-length: 6\r$/m,
    );
    expect(JSON.parse(await curl(...part, '-H', 'Upload-Offset: 0', '--data-binary', 'abc', at))).toMatchObject({
      code: 'upload_offset_mismatch',
      accepted_bytes: 3,
    });
    await curl(...part, '-H', 'Upload-Offset: 3', '--data-binary', 'def', at);
    expect(readFileSync(path, 'utf8')).toBe('abcdef');
    expect(await curl('-I', at)).toMatch(/^upload-offset: 6\r$/m);
    expect(JSON.parse(await curl('-X', 'DELETE', at))).toMatchObject({ code: 'upload_not_found' });
  });

  it.each([
    ['another version', 412, 'precondition_failed', { 'tus-resumable': '0.2.2', 'upload-length': '1' }],
    ['no length', 400, 'invalid_request', {}],
    ['a length that is none', 400, 'invalid_request', { 'upload-length': '1e3' }],
    ['a length to be told later', 400, 'invalid_request', { 'upload-defer-length': '1' }],
  ])('a creation with %s is refused', async (_what, status, code, headers) => {
    const reply = await server.fetch(`/fs/uploads?path=${encodeURIComponent(path)}`, {
      method: 'POST',
      headers: headers as Record<string, string>,
    });
    expect([reply.status, ((await reply.json()) as { code: string }).code]).toEqual([status, code]);
    expect(reply.headers.get('tus-resumable')).toBe('1.0.0');
    if (status === 412) expect(reply.headers.get('tus-version')).toBe('1.0.0');
  });

  it('a part of another type is refused before it is read', async () => {
    const query = new URLSearchParams({ path, size_bytes: '3' });
    const headers = { 'upload-offset': '0', 'content-type': 'text/plain' };
    const reply = await server.fetch(`/fs/uploads/AAAAAAAAAAAAAAAAAAAAAA?${query}`, { method: 'PATCH', headers, body: 'abc' });
    expect(reply.status).toBe(415);
  });
});

it('a part of the address of an upload is told to be one', async () => {
  const server = await GatewayServer.start({ flags: ['--log-level', 'warn'] });
  try {
    for (const method of ['GET', 'DELETE']) {
      const reply = await server.fetch('/fs/uploads/AAAAAAAAAAAAAAAAAAAAAA', { method });
      expect([reply.status, await reply.json()]).toEqual([400, expect.objectContaining({ detail: expect.stringContaining('Location') })]);
    }
  } finally {
    await server.stop();
  }
});

it('a page of an allowed origin may send in parts', async () => {
  const origin = 'https://app.example';
  const server = await GatewayServer.start({ flags: ['--log-level', 'warn', '--allow-origin', origin] });
  try {
    const asked = 'authorization, content-type, tus-resumable, upload-length, upload-metadata, upload-offset';
    const headers = { origin, 'access-control-request-method': 'PATCH', 'access-control-request-headers': asked };
    const preflight = await server.fetch('/fs/uploads/AAAAAAAAAAAAAAAAAAAAAA?path=x&size_bytes=1', { method: 'OPTIONS', headers });
    expect(preflight.headers.get('access-control-allow-methods')).toContain('PATCH');
    const allowed = preflight.headers.get('access-control-allow-headers')?.toLowerCase().split(/, */);
    expect(allowed).toEqual(expect.arrayContaining(asked.split(', ')));
    const query = new URLSearchParams({ path });
    const begun = await server.fetch(`/fs/uploads?${query}`, { method: 'POST', headers: { origin, 'upload-length': '1' } });
    const exposed = begun.headers.get('access-control-expose-headers')?.toLowerCase().split(/, */);
    expect(exposed).toEqual(expect.arrayContaining(['location', 'tus-resumable', 'upload-expires', 'upload-length', 'upload-offset']));
  } finally {
    await server.stop();
  }
});

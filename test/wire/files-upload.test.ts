import { execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import type { Problem, Stored } from '../../src/protocol/index.js';
import { until } from '../support/proc.js';
import { RawConnection, type RawReply, requestText } from './raw-connection.js';
import { useGateway } from './use-gateway.js';

const MIB = 1024 * 1024;
const run = promisify(execFile);
const dir = mkdtempSync(join(tmpdir(), 'files-upload-'));
const source = mkdtempSync(join(tmpdir(), 'files-source-'));
const gateway = useGateway();
const limited = useGateway({ flags: ['--max-file-bytes', String(2 * MIB)] });
afterEach(() => {
  for (const entry of readdirSync(dir)) rmSync(join(dir, entry), { recursive: true });
});
afterAll(() => {
  for (const path of [dir, source]) rmSync(path, { recursive: true });
});

const address = (name: string, more = '') => `/fs/file?path=${encodeURIComponent(join(dir, name))}${more}`;
const put = (name: string, body: BodyInit | null, headers: Record<string, string> = {}, more = '') =>
  gateway.fetch(address(name, more), { method: 'PUT', body, headers });
const problem = async (reply: Response) => (await reply.json()) as Problem;
const head = (line: string, headers: string[], from = gateway) =>
  requestText(line, [`Host: 127.0.0.1:${from.port}`, from.authorization, ...headers]);

describe('B27 an upload that breaks off', () => {
  const old = randomBytes(MIB);
  const lines = () => gateway.server.output.stderr.split('\n').filter((line) => line.includes('"PUT"'));

  test.each([
    ['with a length', 'an old file', ['Content-Length: 10485760'], (bytes: Buffer) => bytes],
    ['with a length', 'no file', ['Content-Length: 10485760'], (bytes: Buffer) => bytes],
    ['in chunks', 'an old file', ['Transfer-Encoding: chunked'], chunked],
    ['in chunks', 'no file', ['Transfer-Encoding: chunked'], chunked],
  ])('%s, over %s, leaves that and nothing else, and one line in the log', async (_way, before, headers, framed) => {
    if (before === 'an old file') writeFileSync(join(dir, 'f'), old);
    const was = readdirSync(dir).map((name) => statSync(join(dir, name), { bigint: true }));
    const logged = lines().length;
    const caller = await RawConnection.open(gateway.port);
    caller.send(head(`PUT ${address('f')} HTTP/1.1`, headers)).send(framed(randomBytes(3 * MIB)));
    await until('it is being written', () => written() >= 2 * MIB);
    caller.destroy();
    await until('it is gone', () => readdirSync(dir).length === was.length, 5000);
    expect(readdirSync(dir).map((name) => statSync(join(dir, name), { bigint: true }))).toEqual(was);
    if (before === 'an old file') expect(readFileSync(join(dir, 'f')).equals(old)).toBe(true);
    await until('it is logged', () => lines().length > logged);
    const [line, ...more] = lines().slice(logged);
    expect([JSON.parse(line as string), more]).toEqual([expect.objectContaining({ method: 'PUT', path: '/fs/file', status: 499 }), []]);
  });

  /** Bytes of what is not yet in its place. */
  const written = () =>
    readdirSync(dir)
      .filter((name) => name !== 'f')
      .reduce((sum, name) => sum + statSync(join(dir, name)).size, 0);
});

describe('B55 large uploads, and their limit', () => {
  test.each([5, 100])('%i MiB by curl -T, which asks before it sends', async (mib) => {
    const file = join(source, `${mib}`);
    execFileSync('sh', ['-c', `head -c ${mib * MIB} /dev/urandom > '${file}'`]);
    const { stdout } = await run('curl', ['-sS', '-v', '-T', file, '-H', gateway.authorization, gateway.server.url + address('up')], {
      maxBuffer: 10 * MIB,
    });
    expect(JSON.parse(stdout)).toMatchObject({ created: true, metadata: { size_bytes: mib * MIB } });
    expect(() => execFileSync('cmp', [file, join(dir, 'up')])).not.toThrow();
  });

  /** A request of 3 MiB to a gateway that takes 2 MiB; then one more on the same connection, where it lives. */
  async function tooLarge(headers: string[], body: Buffer): Promise<{ reply: RawReply | null; next: boolean }> {
    const caller = await RawConnection.open(limited.port);
    caller.send(head(`PUT ${address('f')} HTTP/1.1`, headers, limited)).send(body);
    const reply = await caller.reply();
    const before = caller.received.length;
    caller.send(head('GET /healthz HTTP/1.1', [], limited));
    const next = await caller.until((text) => text.slice(before).includes('{"status":"ok",'));
    caller.destroy();
    return { reply, next };
  }

  test.each([
    ['by its length', [`Content-Length: ${3 * MIB}`], (bytes: Buffer) => bytes],
    ['as it comes', ['Transfer-Encoding: chunked'], (bytes: Buffer) => Buffer.concat([chunked(bytes), Buffer.from('0\r\n\r\n')])],
  ])('what is too large, told %s, is 413; the old file stays and the connection goes on', async (_way, headers, framed) => {
    writeFileSync(join(dir, 'f'), 'old');
    const { reply, next } = await tooLarge(headers, framed(randomBytes(3 * MIB)));
    expect(JSON.parse(reply?.body as string)).toMatchObject({ status: 413, code: 'payload_too_large', limit: 2 * MIB });
    expect([next, readFileSync(join(dir, 'f'), 'utf8'), readdirSync(dir)]).toEqual([true, 'old', ['f']]);
  });

  test('a body that goes on for ever after the answer is cut off', async () => {
    const caller = await RawConnection.open(limited.port);
    caller.send(head(`PUT ${address('f')} HTTP/1.1`, [`Content-Length: ${2 ** 40}`], limited));
    const piece = Buffer.alloc(64 * 1024);
    const sending = setInterval(() => caller.send(piece), 10);
    expect((await caller.reply())?.status).toBe(413);
    const begun = performance.now();
    await caller.untilClosed();
    clearInterval(sending);
    expect(performance.now() - begun).toBeLessThan(10_000);
  });

  test('who asks first (100-continue) sends nothing that is refused', async () => {
    const caller = await RawConnection.open(limited.port);
    caller.send(head(`PUT ${address('f')} HTTP/1.1`, [`Content-Length: ${3 * MIB}`, 'Expect: 100-continue'], limited));
    const reply = await caller.reply();
    expect([reply?.status, reply?.headers.connection, caller.received.includes('100 Continue')]).toEqual([413, 'close', false]);
    await caller.untilClosed();
    for (const [query, status] of [
      ['&if=1', 400],
      ['', 201],
    ] as const) {
      const other = await RawConnection.open(limited.port);
      other.send(head(`PUT ${address('f', query)} HTTP/1.1`, ['Content-Length: 2', 'Expect: 100-continue'], limited));
      if (status === 201) {
        await other.until((text) => text.startsWith('HTTP/1.1 100 Continue\r\n\r\n'));
        other.send('hi');
      }
      expect((await other.reply())?.status).toBe(status);
      expect(other.received.match(/100 Continue/g)?.length ?? 0).toBe(status === 201 ? 1 : 0);
      other.destroy();
    }
  });
});

describe('what is stored', () => {
  test.each([
    null,
    'application/json',
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'nonsense',
    ';',
  ])('is the body as it is, whatever its type: %s', async (type) => {
    const body = Buffer.from('{"not": json');
    const caller = await RawConnection.open(gateway.port);
    const headers = [`Content-Length: ${body.length}`, ...(type === null ? [] : [`Content-Type: ${type}`])];
    const reply = await caller
      .send(head(`PUT ${address('f')} HTTP/1.1`, headers))
      .send(body)
      .reply();
    caller.destroy();
    expect([reply?.status, readFileSync(join(dir, 'f'), 'utf8')]).toEqual([201, '{"not": json']);
  });

  test('is nothing when there is no body', async () => {
    const caller = await RawConnection.open(gateway.port);
    const reply = await caller.send(head(`PUT ${address('f')} HTTP/1.1`, [])).reply();
    caller.destroy();
    expect([reply?.status, statSync(join(dir, 'f')).size]).toEqual([201, 0]);
  });

  test('201 for a new file and 200 for an old one, with its ETag', async () => {
    for (const [created, status] of [
      [true, 201],
      [false, 200],
    ] as const) {
      const reply = await put('f', 'hello');
      const stored = (await reply.json()) as Stored;
      expect([reply.status, stored.created, reply.headers.get('etag')]).toEqual([status, created, stored.metadata.etag]);
    }
  });

  test('mode is octal text', async () => {
    expect((await put('f', 'x', {}, '&mode=4750')).status).toBe(201);
    expect(statSync(join(dir, 'f')).mode & 0o7777).toBe(0o4750);
    for (const mode of ['8', '0x1', '', '17777', '-1', '644%20']) {
      const reply = await put('f', 'x', {}, `&mode=${mode}`);
      expect(await problem(reply)).toMatchObject({ code: 'invalid_request', field: 'mode' });
    }
  });

  test('a part of a file or a packed one is refused, and nothing is changed', async () => {
    writeFileSync(join(dir, 'f'), 'old');
    const part = await put('f', 'x', { 'content-range': 'bytes 0-0/3' });
    expect([part.status, await problem(part)]).toMatchObject([400, { field: 'Content-Range' }]);
    const packed = await put('f', 'x', { 'content-encoding': 'gzip' });
    expect([packed.status, await problem(packed)]).toMatchObject([415, { code: 'unsupported_media_type', allowed: ['identity'] }]);
    expect(readFileSync(join(dir, 'f'), 'utf8')).toBe('old');
  });

  test('conditions: by entity tag and by date', async () => {
    const { metadata } = (await (await put('f', 'one')).json()) as Stored;
    const etag = metadata.etag as string;
    const modified = Date.parse(metadata.modified_at);
    const date = (ms: number) => new Date(modified + ms).toUTCString();
    const cases: [Record<string, string>, number][] = [
      [{ 'if-match': '"other"' }, 412],
      [{ 'if-none-match': '*' }, 412],
      [{ 'if-match': 'x' }, 400],
      [{ 'if-unmodified-since': date(-5000) }, 412],
      [{ 'if-unmodified-since': date(0) }, 200],
      [{ 'if-match': etag }, 412],
      [{ 'if-match': '*' }, 200],
    ];
    for (const [headers, status] of cases) {
      const reply = await put('f', 'two', headers);
      expect(reply.status, JSON.stringify(headers)).toBe(status);
      await reply.arrayBuffer();
    }
    const failed = await put('f', 'three', { 'if-match': '"other"' });
    expect(await problem(failed)).toMatchObject({ code: 'precondition_failed', etag: expect.stringMatching(/^"/) });
    expect(readFileSync(join(dir, 'f'), 'utf8')).toBe('two');
  });
});

/** Bytes as chunks of a transfer, without its end. */
function chunked(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += 60_000) {
    const part = bytes.subarray(at, at + 60_000);
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n'));
  }
  return Buffer.concat(parts);
}

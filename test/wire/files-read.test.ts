import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import type { Problem } from '../../src/protocol/index.js';
import { until } from '../support/proc.js';
import { RawConnection, requestText } from './raw-connection.js';
import { useGateway } from './use-gateway.js';

const ORIGIN = 'https://dash.example';
const gateway = useGateway({ flags: ['--allow-origin', ORIGIN] });
const dir = mkdtempSync(join(tmpdir(), 'files-read-'));
afterAll(() => rmSync(dir, { recursive: true }));

const WHOLE = randomBytes(300_000);
writeFileSync(join(dir, 'whole.bin'), WHOLE);
writeFileSync(join(dir, 'page.html'), '<script>alert(1)</script>');

const address = (name: string, more = '') => `/fs/file?path=${encodeURIComponent(join(dir, name))}${more}`;
const get = (name: string, headers: Record<string, string> = {}, method = 'GET') => gateway.fetch(address(name), { method, headers });
const bytes = async (reply: Response) => Buffer.from(await reply.arrayBuffer());
const problem = async (reply: Response) => (await reply.json()) as Problem;

async function etagOf(name: string): Promise<string> {
  const reply = await get(name, {}, 'HEAD');
  return reply.headers.get('etag') as string;
}

describe('the headers of a file', () => {
  test('say what it is, and keep it from being a page of this origin', async () => {
    const reply = await get('page.html');
    const { mtime, size } = statSync(join(dir, 'page.html'));
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-length': String(size),
      'last-modified': mtime.toUTCString(),
      'accept-ranges': 'bytes',
      'cache-control': 'private, no-cache, no-transform',
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringMatching(/default-src 'none'.*; sandbox$/),
      'cross-origin-resource-policy': 'same-origin',
    });
    expect(reply.headers.get('etag')).toMatch(/^"[^"]+"$/);
    expect(reply.headers.get('content-disposition')).toBe('attachment; filename="page.html"');
    const metadata = await (await gateway.fetch(`/fs/metadata?path=${encodeURIComponent(join(dir, 'page.html'))}`)).json();
    expect(JSON.parse(reply.headers.get('exec-metadata') as string)).toEqual(metadata);
    await reply.arrayBuffer();
  });

  test('HEAD tells the same without the content', async () => {
    const [head, whole] = [await get('whole.bin', {}, 'HEAD'), await get('whole.bin')];
    await whole.arrayBuffer();
    const told = ({ headers }: Response) =>
      Object.fromEntries([...headers].filter(([name]) => !['date', 'x-request-id', 'connection', 'keep-alive'].includes(name)));
    expect([head.status, told(head)]).toEqual([200, told(whole)]);
    expect((await head.arrayBuffer()).byteLength).toBe(0);
    expect((await get('none', {}, 'HEAD')).status).toBe(404);
    expect((await get('', {}, 'HEAD')).status).toBe(409);
  });

  test('download=true saves it under its name', async () => {
    writeFileSync(join(dir, 'naïve "plan".txt'), '');
    const reply = await gateway.fetch(address('naïve "plan".txt', '&download=true'));
    expect(reply.headers.get('content-disposition')).toBe(
      'attachment; filename="na_ve _plan_.txt"; filename*=UTF-8\'\'na%C3%AFve%20%22plan%22.txt',
    );
  });

  test('an allowed page may read them', async () => {
    const reply = await get('page.html', { origin: ORIGIN });
    await reply.arrayBuffer();
    expect(reply.headers.get('access-control-allow-origin')).toBe(ORIGIN);
    const exposed = reply.headers.get('access-control-expose-headers')?.split(/, */);
    expect(exposed).toEqual(expect.arrayContaining(['ETag', 'Content-Range', 'Exec-Metadata', 'Content-Disposition']));
    const preflight = await gateway.fetch(address('x'), {
      method: 'OPTIONS',
      headers: { origin: ORIGIN, 'access-control-request-method': 'PUT', 'access-control-request-headers': 'if-match' },
    });
    const allowed = preflight.headers.get('access-control-allow-headers')?.toLowerCase().split(/, */);
    expect(allowed).toEqual(expect.arrayContaining(['range', 'if-range', 'if-match', 'if-none-match', 'authorization']));
  });
});

describe('ranges', () => {
  test('any range is the slice, and Content-Range says which', async () => {
    const size = WHOLE.length;
    const range = fc.oneof(
      fc
        .tuple(fc.nat(size - 1), fc.nat(size))
        .map(([first, more]) => [`${first}-${first + more}`, first, Math.min(first + more, size - 1)] as const),
      fc.nat(size - 1).map((first) => [`${first}-`, first, size - 1] as const),
      fc.integer({ min: 1, max: size * 2 }).map((last) => [`-${last}`, Math.max(0, size - last), size - 1] as const),
    );
    await fc.assert(
      fc.asyncProperty(range, async ([text, first, last]) => {
        const reply = await get('whole.bin', { range: `bytes=${text}` });
        expect([reply.status, reply.headers.get('content-range'), reply.headers.get('content-length')]).toEqual([
          206,
          `bytes ${first}-${last}/${size}`,
          String(last - first + 1),
        ]);
        expect((await bytes(reply)).equals(WHOLE.subarray(first, last + 1))).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  test('several come as one multipart body, each with its place', async () => {
    const reply = await get('whole.bin', { range: 'bytes=0-9,100-199,-5' });
    const [, boundary] = /^multipart\/byteranges; boundary=(\w+)$/.exec(reply.headers.get('content-type') as string) ?? [];
    const body = await bytes(reply);
    expect([reply.status, reply.headers.get('content-length')]).toEqual([206, String(body.length)]);
    const part = (first: number, last: number) =>
      Buffer.concat([
        Buffer.from(
          `\r\n--${boundary}\r\nContent-Type: application/octet-stream\r\nContent-Range: bytes ${first}-${last}/${WHOLE.length}\r\n\r\n`,
        ),
        WHOLE.subarray(first, last + 1),
      ]);
    const size = WHOLE.length;
    expect(body.equals(Buffer.concat([part(0, 9), part(100, 199), part(size - 5, size - 1), Buffer.from(`\r\n--${boundary}--\r\n`)]))).toBe(
      true,
    );
  });

  test('those that touch are one, those that are none are passed over, those beyond the end are told', async () => {
    const one = await get('whole.bin', { range: 'bytes=0-9,10-19' });
    expect([one.status, one.headers.get('content-range'), (await bytes(one)).length]).toEqual([206, `bytes 0-19/${WHOLE.length}`, 20]);
    for (const range of ['bytes=x', 'lines=1-2', 'bytes=5-4']) {
      const reply = await get('whole.bin', { range });
      expect([reply.status, (await bytes(reply)).length]).toEqual([200, WHOLE.length]);
    }
    const beyond = await get('whole.bin', { range: `bytes=${WHOLE.length}-` });
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, `bytes */${WHOLE.length}`]);
    expect(await problem(beyond)).toMatchObject({ code: 'range_not_satisfiable', size_bytes: WHOLE.length });
  });

  test('a file of /proc or /sys has none, and is read whole', async () => {
    const file = '/proc/self/status';
    for (const headers of [{}, { range: 'bytes=0-3' }]) {
      const reply = await gateway.fetch(`/fs/file?path=${file}`, { headers: headers as Record<string, string> });
      expect([reply.status, reply.headers.get('content-length')]).toEqual([200, null]);
      expect(await reply.text()).toMatch(/^Name:[\s\S]*nonvoluntary_ctxt_switches:\t\d+\n$/);
    }
    const page = '/sys/kernel/mm/transparent_hugepage/enabled'; // it says 4096 bytes
    const reply = await gateway.fetch(`/fs/file?path=${page}`, { headers: { range: 'bytes=0-3' } });
    expect([reply.status, await reply.text()]).toEqual([200, readFileSync(page, 'utf8')]);
  });

  test('curl goes on with a download where it broke off', () => {
    const half = join(dir, 'half.bin');
    writeFileSync(half, WHOLE.subarray(0, 100_000));
    execFileSync('curl', ['-sSf', '-C', '-', '-o', half, '-H', gateway.authorization, `${gateway.server.url}${address('whole.bin')}`]);
    expect(readFileSync(half).equals(WHOLE)).toBe(true);
  });
});

describe('a file that cannot be read from its first byte on', () => {
  const files = ['/proc/self/mem', '/sys/class/net/lo/speed'];

  test.each(files)('%s is told as an error, and not by an empty transfer', async (path) => {
    for (const headers of [{}, { range: 'bytes=0-9' }, { 'if-none-match': '"other"' }]) {
      const reply = await gateway.fetch(`/fs/file?path=${path}`, { headers });
      const { code, detail } = await problem(reply);
      expect([reply.status, code, detail]).toEqual([422, 'file_error', expect.stringMatching(/\(E[A-Z]+\)/)]);
      expect(reply.headers.get('etag')).toBeNull();
    }
  });
});

describe('conditions', () => {
  test('who has the content gets 304; who wants another gets 412', async () => {
    const etag = await etagOf('whole.bin');
    const modified = statSync(join(dir, 'whole.bin')).mtime;
    const earlier = new Date(modified.getTime() - 10_000).toUTCString();
    const cases: [Record<string, string>, number][] = [
      [{ 'if-none-match': etag }, 304],
      [{ 'if-none-match': '"other"' }, 200],
      [{ 'if-modified-since': modified.toUTCString() }, 304],
      [{ 'if-modified-since': earlier }, 200],
      [{ 'if-match': etag }, 200],
      [{ 'if-match': '"other"' }, 412],
      [{ 'if-unmodified-since': earlier }, 412],
      [{ range: 'bytes=0-1', 'if-range': etag }, 206],
      [{ range: 'bytes=0-1', 'if-range': '"other"' }, 200],
      [{ range: 'bytes=0-1', 'if-range': modified.toUTCString() }, 200],
      [{ range: 'bytes=0-1', 'if-match': '"other"' }, 412],
      [{ range: 'bytes=0-1', 'if-none-match': etag }, 304],
      [{ 'if-match': 'unquoted' }, 400],
    ];
    for (const [headers, status] of cases) {
      for (const method of ['GET', 'HEAD']) {
        const reply = await get('whole.bin', headers, method);
        expect(reply.status, `${method} ${JSON.stringify(headers)}`).toBe(status === 206 && method === 'HEAD' ? 200 : status);
        if (status === 304) expect([reply.headers.get('etag'), (await bytes(reply)).length]).toEqual([etag, 0]);
        else await reply.arrayBuffer();
      }
    }
    const failed = await problem(await get('whole.bin', { 'if-match': '"other"' }));
    expect(failed).toMatchObject({ code: 'precondition_failed', etag });
  });

  test('a file that grows all the time is given as it was at one moment, also by range', async () => {
    writeFileSync(join(dir, 'log'), 'x'.repeat(1000));
    let writing = true;
    const writer = (async () => {
      while (writing) {
        appendFileSync(join(dir, 'log'), 'x'.repeat(10));
        await new Promise(setImmediate);
      }
    })();
    try {
      for (let i = 0; i < 100; i++) {
        const reply = await get('log', { range: 'bytes=-500' });
        const body = await bytes(reply);
        expect([reply.status, reply.headers.get('content-length')]).toEqual([206, String(body.length)]);
      }
      expect((await get('log', { range: 'bytes=0-9,50-59' })).status).toBeLessThan(300);
    } finally {
      writing = false;
      await writer;
    }
  });
});

describe('what a path in a query is', () => {
  test('a query that is no UTF-8 is refused, and names no other file', async () => {
    for (const query of ['path=%ff', 'path=%', 'path=a%zz', 'path=%c3']) {
      const reply = await gateway.fetch(`/fs/file?${query}`);
      expect([reply.status, (await problem(reply)).code]).toEqual([400, 'invalid_path']);
    }
  });

  test.each([
    ['', 'invalid_request'],
    ['path=a&path=b', 'invalid_request'],
    ['path=a&path_base64=YQ%3D%3D', 'invalid_request'],
    ['path=', 'invalid_path'],
    ['path=a%00b', 'invalid_path'],
    ['path_base64=Y', 'invalid_argument'],
    ['path=a&download=1', 'invalid_request'],
    ['path=a&what=1', 'invalid_request'],
  ])('%s is %s', async (query, code) => {
    const reply = await gateway.fetch(`/fs/file?${query}`);
    expect([reply.status, (await problem(reply)).code]).toEqual([400, code]);
  });
});

describe('a caller who leaves', () => {
  test('in the middle of a large file: it is closed at once', async () => {
    const large = join(dir, 'large.bin');
    writeFileSync(large, '');
    truncateSync(large, 2 ** 30);
    const open = () =>
      readdirSync(`/proc/${gateway.server.pid}/fd`).filter((fd) => link(`/proc/${gateway.server.pid}/fd/${fd}`) === large).length;
    const callers = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const caller = await RawConnection.open(gateway.port);
        caller.socket.pause(); // a reader that stalls
        return caller.send(requestText(`GET ${address('large.bin')} HTTP/1.1`, [`Host: 127.0.0.1:${gateway.port}`, gateway.authorization]));
      }),
    );
    await until('all are open', () => open() === 20);
    for (const caller of callers) caller.destroy();
    await until('all are closed', () => open() === 0, 2000);
    expect(open()).toBe(0);
  });
});

function link(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

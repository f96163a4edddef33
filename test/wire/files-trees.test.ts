import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import zlib, { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Problem, SearchLine } from '../../src/protocol/index.js';
import { until } from '../support/proc.js';
import { pythonTar, settle, treeState } from '../support/tar.js';
import { RawConnection } from './raw-connection.js';
import { useGateway } from './use-gateway.js';

const gateway = useGateway({ flags: ['--max-file-bytes', '4000000'] });
let dir = '';

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'trees-'));
  mkdirSync(join(dir, 'from/d'), { recursive: true });
  writeFileSync(join(dir, 'from/a'), 'content\n'.repeat(10));
  writeFileSync(join(dir, 'from/d/b'), 'b');
  symlinkSync('d/b', join(dir, 'from/l'));
  settle(join(dir, 'from'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const address = (kind: 'archive' | 'search', below: string, more = '') => `/fs/${kind}?path=${encodeURIComponent(join(dir, below))}${more}`;
const curl = (script: string) =>
  execFileSync('sh', ['-c', script], {
    cwd: dir,
    env: { ...process.env, URL: gateway.server.url, AUTH: gateway.authorization },
    maxBuffer: 1 << 28,
  }).toString();

/** Threads of the gateway. */
const threads = () => readdirSync(`/proc/${gateway.server.pid}/task`).length;

/** What the gateway has open below the directory of a test. */
const open = (below = '') =>
  execFileSync('sh', ['-c', `ls -l /proc/${gateway.server.pid}/fd | grep -c '${dir}${below}' || true`])
    .toString()
    .trim();

describe('curl and GNU tar', () => {
  it('take a tree out and put one in, packed and plain', () => {
    curl(`mkdir out packed; curl -sS -H "$AUTH" "$URL/fs/archive?path=${dir}/from" | tar xp -C out
      curl -sS --compressed -H "$AUTH" "$URL/fs/archive?path=${dir}/from" | tar xp -C packed
      tar c -C from . | curl -sS -H "$AUTH" -T - "$URL/fs/archive?path=${dir}/in"
      tar cz -C from . | curl -sS -H "$AUTH" -H 'Content-Encoding: gzip' -T - "$URL/fs/archive?path=${dir}/told"
      tar czf from.tgz -C from .; curl -sS -H "$AUTH" -T from.tgz "$URL/fs/archive?path=${dir}/sniffed"`);
    const from = treeState(join(dir, 'from'));
    expect(treeState(join(dir, 'out'))).toEqual(from);
    expect(treeState(join(dir, 'packed'))).toEqual(from);
    // GNU tar's own format has whole seconds.
    const whole = Object.fromEntries(Object.entries(from).map(([path, told]) => [path, told.replace('123456', '000000')]));
    for (const to of ['in', 'told', 'sniffed']) expect(treeState(join(dir, to))).toEqual(whole);
  });

  it('are told what is wrong while they still send', () => {
    const tar = `python3 -c "import tarfile,sys,io
t=tarfile.open(fileobj=sys.stdout.buffer,mode='w|')
m=tarfile.TarInfo('../evil'); t.addfile(m)
m=tarfile.TarInfo('big'); m.size=3000000; t.addfile(m, io.BytesIO(bytes(3000000)))
t.close()"`;
    const told = curl(`${tar} 2>/dev/null | curl -sS -w ' %{http_code}' -H "$AUTH" -T - "$URL/fs/archive?path=${dir}/in"`);
    expect(told).toMatch(/"code":"unsafe_archive_entry".* 422$/);
    const over = curl(`tar c --blocking-factor=10000 from | curl -sS -H "$AUTH" -T - "$URL/fs/archive?path=${dir}/in"`);
    expect(over).toMatch(/"code":"payload_too_large".*"limit":4000000.*"unpacked":\{"files":2,/);
  });
});

describe('a tar over HTTP', () => {
  it('is packed as Accept-Encoding asks, and says that it depends on it', async () => {
    const zstd = 'createZstdCompress' in zlib ? 'zstd' : 'gzip';
    const cases: [string | undefined, string | null][] = [
      [undefined, null],
      ['identity', null],
      ['br', null],
      ['gzip', 'gzip'],
      ['gzip;q=0', null],
      ['br, gzip;q=0.5, *;q=0', 'gzip'],
      ['*', zstd],
      ['gzip;q=0.2, identity;q=0.9', null],
    ];
    for (const [accept, encoding] of cases) {
      const connection = await RawConnection.open(gateway.port);
      const lines = [
        `GET ${address('archive', 'from')} HTTP/1.1`,
        `Host: 127.0.0.1:${gateway.port}`,
        gateway.authorization,
        'Connection: close',
      ];
      connection.socket.write([...lines, ...(accept === undefined ? [] : [`Accept-Encoding: ${accept}`]), '', ''].join('\r\n'));
      await once(connection.socket, 'close');
      const head = connection.received.slice(0, connection.received.indexOf('\r\n\r\n')).toLowerCase();
      expect(/content-encoding: (\w+)/.exec(head)?.[1] ?? null, accept).toBe(encoding);
      expect(head).toMatch(/vary: .*accept-encoding/);
      expect(head).toContain('content-type: application/x-tar');
      expect(head).toContain('content-disposition: attachment; filename="from.tar"');
    }
  });

  it('is refused in a form that is not known, and without what it needs', async () => {
    const put = (headers: Record<string, string>, more = '') =>
      gateway
        .fetch(address('archive', 'in', more), { method: 'PUT', headers, body: 'x' })
        .then((reply) => reply.json() as Promise<Problem>);
    expect(await put({ 'content-encoding': 'br' })).toMatchObject({
      status: 415,
      field: 'Content-Encoding',
      allowed: expect.arrayContaining(['gzip', 'identity']),
    });
    expect(await put({}, '&mode=1')).toMatchObject({ status: 400, code: 'invalid_request' });
    expect(await put({ 'content-encoding': 'x-gzip' })).toMatchObject({ status: 400, code: 'invalid_archive' });
    expect(await (await gateway.fetch('/fs/archive')).json()).toMatchObject({ status: 400, code: 'invalid_request' });
  });

  it.each(['--http1.0', '--http1.1'])(
    'breaks off under %s when a file becomes shorter, and never ends as if it were whole',
    async (version) => {
      for (const name of ['m', 'n', 'o']) writeFileSync(join(dir, 'from', name), Buffer.alloc(8_000_000, name));
      const to = join(dir, 'out.tar');
      const child = spawn('curl', [
        version,
        '-sS',
        '--limit-rate',
        '1M',
        '-H',
        gateway.authorization,
        '-o',
        to,
        gateway.server.url + address('archive', 'from'),
      ]);
      await until('it has begun', () => existsSync(to) && statSync(to).size > 0);
      for (const name of ['m', 'n', 'o']) truncateSync(join(dir, 'from', name), 10);
      const [code] = await once(child, 'close');
      // "Transfer closed with outstanding read data remaining", "Recv failure: Connection reset by peer".
      expect([18, 56]).toContain(code);
      await until('nothing is open', () => open() === '0');
    },
  );

  it('holds nothing when its caller leaves, in either direction', async () => {
    for (const name of ['m', 'n']) writeFileSync(join(dir, 'from', name), Buffer.alloc(30_000_000));
    const reader = await RawConnection.open(gateway.port);
    reader.socket.pause();
    reader.socket.write(
      `GET ${address('archive', 'from')} HTTP/1.1\r\nHost: 127.0.0.1:${gateway.port}\r\n${gateway.authorization}\r\nAccept-Encoding: gzip\r\n\r\n`,
    );
    await until('a file is open', () => open('/from/m') !== '0');
    reader.socket.destroy();
    await until('nothing is open', () => open() === '0');

    const writer = await RawConnection.open(gateway.port);
    const tar = pythonTar("add('one', b'1'); add('two', b'2'*1000000)");
    writer.socket.write(
      `PUT ${address('archive', 'in')} HTTP/1.1\r\nHost: 127.0.0.1:${gateway.port}\r\n${gateway.authorization}\r\nContent-Length: ${tar.length}\r\n\r\n`,
    );
    writer.socket.write(tar.subarray(0, 500_000));
    await until('the second file is begun', () => open() !== '0' && readdirSync(join(dir, 'in')).length === 2);
    writer.socket.destroy();
    await until('nothing is open', () => open() === '0');
    await until('nothing half is left', () => readdirSync(join(dir, 'in')).length === 1);
    expect(readdirSync(join(dir, 'in'))).toEqual(['one']);
  });

  it('is read by fetch, which unpacks it', async () => {
    const reply = await gateway.fetch(address('archive', 'from'), { headers: { 'accept-encoding': 'gzip' } });
    expect(reply.headers.get('content-encoding')).toBe('gzip');
    const tar = Buffer.from(await reply.arrayBuffer());
    expect(execFileSync('tar', ['tf', '-'], { input: tar }).toString()).toBe('a\nd/\nd/b\nl\n');
    expect(() => gunzipSync(tar)).toThrow();
  });
});

describe('a search over HTTP', () => {
  it('is one JSON value a line, as curl shows it', () => {
    const told = curl(`curl -sSN -H "$AUTH" "$URL/fs/search?path=${dir}/from&text=CONTENT&ignore_case=true&glob=a&glob=*.x&limit=2"`);
    const lines = told
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as SearchLine);
    expect(lines).toMatchObject([
      { path: 'a', line: 1, column: 1, text: 'content' },
      { path: 'a', line: 2 },
      { done: true, truncated: true, reason: 'limit', matches: 2 },
    ]);
  });

  it('refuses what it does not know', async () => {
    const told = async (more: string) => (await (await gateway.fetch(address('search', 'from', more))).json()) as Problem;
    expect(await told('&text=(&regex=true')).toMatchObject({ status: 400, code: 'invalid_pattern', field: 'text' });
    for (const more of [
      '',
      '&text=',
      '&text=a&limit=0',
      '&text=a&limit=1000000',
      '&text=a&timeout_ms=61000',
      '&text=a&regex=yes',
      `&text=${'a'.repeat(1001)}`,
    ]) {
      expect(await told(more), more).toMatchObject({ status: 400, code: 'invalid_request' });
    }
  });

  it('tells what it found at once, and stops when its caller leaves', async () => {
    mkdirSync(join(dir, 'many'));
    writeFileSync(join(dir, 'many/0'), 'needle\n');
    writeFileSync(join(dir, 'many/f0'), Buffer.alloc(60_000, 'a'));
    for (let i = 1; i < 2000; i++) linkSync(join(dir, 'many/f0'), join(dir, `many/f${i}`));
    const before = threads();
    const child = spawn('curl', [
      '-sSN',
      '-H',
      gateway.authorization,
      `${gateway.server.url}${address('search', 'many', '&text=needle|(a|b){50}(c|d){20}x&regex=true')}`,
    ]);
    const [first] = (await once(child.stdout, 'data')) as [Buffer];
    expect(JSON.parse(first.toString().split('\n')[0] ?? '')).toMatchObject({ path: '0', line: 1 });
    child.kill('SIGKILL');
    await until('its thread is gone', () => threads() <= before && open() === '0', 5_000);
    expect(readFileSync(`/proc/${gateway.server.pid}/stat`, 'utf8')).toMatch(/\) [RS] /);
  });
});

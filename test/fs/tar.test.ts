import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeTarEntry, TAR_END, type TarEntry, tarPadding } from '../../src/fs/tar-entry.js';
import { TarReader } from '../../src/fs/tar-reader.js';

const LONGEST = 300;

const bytes = (min: number) =>
  fc
    .uint8Array({ minLength: min, maxLength: LONGEST })
    .map((all) => Buffer.from(all.map((byte) => (byte === 0 ? 1 : byte))))
    .filter((name) => name.at(-1) !== 0x2f);

const entries = fc.record({
  name: bytes(1),
  type: fc.constantFrom('file' as const, 'symlink' as const, 'directory' as const),
  mode: fc.nat(0o7777),
  uid: fc.nat(2 ** 32),
  gid: fc.nat(2 ** 32),
  mtime_ns: fc.bigInt(-(10n ** 18n), 10n ** 19n),
  content: fc.uint8Array({ maxLength: 2000 }),
  target: bytes(1),
});

async function* inParts(whole: Buffer, sizes: number[]): AsyncGenerator<Uint8Array> {
  for (let at = 0, turn = 0; at < whole.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    yield whole.subarray(at, at + size);
    at += size;
  }
}

async function readAll(tar: Buffer, sizes = [tar.length]): Promise<(TarEntry & { content: string })[]> {
  const reader = new TarReader(inParts(tar, sizes));
  const all: (TarEntry & { content: string })[] = [];
  for (let entry = await reader.next(); entry !== null; entry = await reader.next()) {
    const parts: Buffer[] = [];
    for await (const part of reader.content()) parts.push(part);
    all.push({ ...entry, content: Buffer.concat(parts).toString('hex') });
  }
  return all;
}

const python = (script: string, input?: Buffer) => execFileSync('python3', ['-c', script], { input, maxBuffer: 1 << 28 });

describe('a tar', () => {
  it('holds what was put in it, however it is cut into parts', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(entries, { maxLength: 5 }),
        fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1 }),
        async (all, sizes) => {
          const given = all.map((entry) => {
            const content = entry.type === 'file' ? Buffer.from(entry.content) : Buffer.alloc(0);
            return { ...entry, content, size: content.length, target: entry.type === 'symlink' ? entry.target : Buffer.alloc(0) };
          });
          const parts = given.flatMap((entry) => [encodeTarEntry(entry), entry.content, tarPadding(entry.size)]);
          const read = await readAll(Buffer.concat([...parts, TAR_END]), sizes);
          expect(read).toEqual(given.map((entry) => ({ ...entry, content: entry.content.toString('hex') })));
        },
      ),
    );
  });

  it('is read by Python as it was written', () => {
    const long = Buffer.from(`${'d'.repeat(120)}/${'é'.repeat(80)}`);
    const odd = Buffer.from([0x66, 0xff, 0xfe]);
    const long_odd = Buffer.concat([Buffer.from('x'.repeat(150)), odd]);
    const common = {
      type: 'file' as const,
      mode: 0o640,
      uid: 3_000_000,
      gid: 7,
      mtime_ns: 1_700_000_000_123_456_789n,
      target: Buffer.alloc(0),
      size: 0,
    };
    const written = [long, odd, long_odd].map((name) => encodeTarEntry({ ...common, name }));
    const huge = encodeTarEntry({ ...common, name: Buffer.from('huge'), size: 9 * 2 ** 30 });
    const told = python(
      `import tarfile,sys,io
t=tarfile.open(fileobj=io.BytesIO(sys.stdin.buffer.read()))
while True:
  try: m=t.next()
  except tarfile.ReadError: break
  print(m.name.encode('utf8','surrogateescape').hex(),m.size,oct(m.mode),m.uid,m.gid,m.mtime)`,
      Buffer.concat([...written, huge]),
    );
    const lines = [...[long, odd, long_odd].map((name) => [name, 0] as const), [Buffer.from('huge'), 9 * 2 ** 30] as const];
    expect(told.toString().trim().split('\n')).toEqual(
      lines.map(([name, size]) => `${name.toString('hex')} ${size} 0o640 3000000 7 1700000000.1234567`),
    );
  });

  it.each(['v7', 'oldgnu', 'gnu', 'ustar', 'posix'])('of GNU tar in the format %s is read', async (format) => {
    const long = format === 'v7' ? 'l'.repeat(90) : `${'p'.repeat(90)}/${'l'.repeat(90)}`;
    const script = `set -e; d=$(mktemp -d); cd "$d"; mkdir -p "$(dirname ${long})" dir; printf content > ${long}; ln -s dir link; printf y > file; ln file hard; printf x > "$(printf 'odd\\377')"
touch -d @1000000000 * ${long}; tar c --format=${format} --sort=name ${long} dir link file hard odd*; rm -r "$d"`;
    const tar = execFileSync('sh', ['-c', script]);
    const read = (await readAll(tar)).map(({ name, type, size, target, content }) => [
      name.toString('latin1'),
      type,
      size,
      target.toString(),
      content,
    ]);
    expect(read).toEqual([
      [long, 'file', 7, '', Buffer.from('content').toString('hex')],
      ['dir/', 'directory', 0, '', ''],
      ['link', 'symlink', 0, 'dir', ''],
      ['file', 'file', 1, '', '79'],
      ['hard', 'hard-link', 0, 'file', ''],
      ['odd\xff', 'file', 1, '', '78'],
    ]);
  });

  it.each(['GNU_FORMAT', 'PAX_FORMAT'])('with sizes above 8 GiB in the %s of Python is read', async (format) => {
    const header = python(`import tarfile,sys
t=tarfile.TarInfo('big'); t.size=9*2**30; t.uid=2**31; t.mtime=-5
sys.stdout.buffer.write(t.tobuf(tarfile.${format}))`);
    const entry = await new TarReader(inParts(header, [512])).next();
    expect(entry).toMatchObject({ type: 'file', size: 9 * 2 ** 30, uid: 2 ** 31, mtime_ns: -5_000_000_000n });
  });

  it.each([
    ['nothing', Buffer.alloc(0), 'ends without its end mark'],
    [
      'no end mark',
      encodeTarEntry({
        name: Buffer.from('d'),
        type: 'directory',
        mode: 0,
        uid: 0,
        gid: 0,
        size: 0,
        mtime_ns: 0n,
        target: Buffer.alloc(0),
      }),
      'ends without its end mark',
    ],
    ['something else', Buffer.alloc(1024, 'PK\x03\x04'), 'holds a header with a wrong checksum: it is broken, or no tar'],
  ])('of %s is refused', async (_what, tar, message) => {
    await expect(readAll(tar)).rejects.toThrow(message);
  });
});

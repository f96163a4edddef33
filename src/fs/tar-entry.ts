import { encodePax } from './tar-pax.js';

/** A tar is made of these: headers, and content filled up with zeros, in bytes. */
export const TAR_BLOCK = 512;

/** Bytes of a name or a link's text that a header itself can hold. */
const SHORT_NAME = 100;

/** Largest numbers of the octal fields of a header. */
const MAX_ID = 0o7777777;
const MAX_SIZE = 0o77777777777;

/** What an entry of a tar is; `unknown` is what no reader need understand (POSIX.1-2017, pax, "ustar Interchange Format"). */
export type TarType = 'file' | 'hard-link' | 'symlink' | 'char' | 'block' | 'directory' | 'fifo' | 'unknown';

const FLAGS: Partial<Record<TarType, string>> = { file: '0', symlink: '2', directory: '5' };

/** One entry of a tar, without its content. */
export interface TarEntry {
  /** As it stands in the tar; that of a directory may end with a slash. */
  name: Buffer;
  type: TarType;
  /** Permission bits, with set-id and sticky. */
  mode: number;
  uid: number;
  gid: number;
  /** Bytes of content, 0 for what is no file. */
  size: number;
  /** Nanoseconds since 1970. */
  mtime_ns: bigint;
  /** Where a symbolic or hard link leads; empty for anything else. */
  target: Buffer;
}

/** The two blocks of zeros that end a tar. */
export const TAR_END = Buffer.alloc(2 * TAR_BLOCK);

/** The zeros that follow content of so many bytes. */
export function tarPadding(size: number): Buffer {
  return TAR_END.subarray(0, (TAR_BLOCK - (size % TAR_BLOCK)) % TAR_BLOCK);
}

/** The record, of the directory it is in, that tells of something that was left out of a tar: `CODE PATH`. Other readers pass over it. */
export const LEFT_OUT = 'EXEC_GATEWAY.unreadable';

/** The header of a file, symlink or directory; what the old format cannot hold goes before it as pax records. */
export function encodeTarEntry(entry: TarEntry, more: [key: string, value: Buffer][] = []): Buffer {
  const records = new Map([...paxRecords(entry), ...more]);
  if (records.size === 0) return header(entry, FLAGS[entry.type] ?? '0');
  const pax = encodePax(records);
  const about: TarEntry = { ...entry, name: Buffer.from('PaxHeaders/entry'), size: pax.length, target: Buffer.alloc(0), mode: 0o644 };
  return Buffer.concat([header(about, 'x'), pax, tarPadding(pax.length), header(entry, FLAGS[entry.type] ?? '0')]);
}

function paxRecords({ name, size, uid, gid, mtime_ns, target }: TarEntry): Map<string, Buffer> {
  const records = new Map<string, Buffer>();
  const set = (key: string, value: Buffer | string | number) => records.set(key, Buffer.isBuffer(value) ? value : Buffer.from(`${value}`));
  if (name.length > SHORT_NAME) set('path', name);
  if (target.length > SHORT_NAME) set('linkpath', target);
  if (size > MAX_SIZE) set('size', size);
  if (uid > MAX_ID) set('uid', uid);
  if (gid > MAX_ID) set('gid', gid);
  if (mtime_ns < 0n || mtime_ns % 1_000_000_000n !== 0n || mtime_ns / 1_000_000_000n > MAX_SIZE) set('mtime', decimalSeconds(mtime_ns));
  // Names in pax records are UTF-8 unless this says that they are bytes; it has to come first.
  const binary = [...records.values()].some((value) => !isUtf8(value));
  return binary ? new Map([['hdrcharset', Buffer.from('BINARY')], ...records]) : records;
}

function header(entry: TarEntry, flag: string): Buffer {
  const block = Buffer.alloc(TAR_BLOCK);
  entry.name.copy(block, 0, 0, SHORT_NAME);
  octal(block, 100, 8, entry.mode & 0o7777);
  octal(block, 108, 8, Math.min(entry.uid, MAX_ID));
  octal(block, 116, 8, Math.min(entry.gid, MAX_ID));
  octal(block, 124, 12, Math.min(entry.size, MAX_SIZE));
  octal(block, 136, 12, clampSeconds(entry.mtime_ns));
  block.write(flag, 156, 'latin1');
  entry.target.copy(block, 157, 0, SHORT_NAME);
  block.write('ustar\x0000', 257, 'latin1');
  block.fill(' ', 148, 156);
  octal(
    block,
    148,
    7,
    block.reduce((sum, byte) => sum + byte, 0),
  );
  return block;
}

function octal(block: Buffer, offset: number, length: number, value: number): void {
  block.write(value.toString(8).padStart(length - 1, '0'), offset, 'latin1');
  block[offset + length - 1] = 0;
}

function clampSeconds(mtime_ns: bigint): number {
  return Math.min(Math.max(Number(mtime_ns / 1_000_000_000n), 0), MAX_SIZE);
}

function decimalSeconds(ns: bigint): string {
  const absolute = ns < 0n ? -ns : ns;
  const fraction = `${absolute % 1_000_000_000n}`.padStart(9, '0').replace(/0+$/, '');
  return `${ns < 0n ? '-' : ''}${absolute / 1_000_000_000n}${fraction === '' ? '' : `.${fraction}`}`;
}

function isUtf8(bytes: Buffer): boolean {
  return bytes.equals(Buffer.from(bytes.toString('utf8')));
}

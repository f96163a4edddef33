import { MAX_ARCHIVE_NAME_BYTES } from '../protocol/limits.js';
import { ByteReader } from './byte-reader.js';
import { LEFT_OUT, TAR_BLOCK, type TarEntry, type TarType, tarPadding } from './tar-entry.js';
import { decodePax } from './tar-pax.js';

/** Largest pax header, in bytes: room for the longest names, and for the extended attributes that some programs add. */
const MAX_PAX_BYTES = 1024 * 1024;

/** So many of the things that the writer left out are told. */
const MAX_LEFT_OUT = 1_000;

const TYPES: Record<string, TarType> = {
  '\0': 'file',
  '0': 'file',
  '1': 'hard-link',
  '2': 'symlink',
  '3': 'char',
  '4': 'block',
  '5': 'directory',
  '6': 'fifo',
  '7': 'file',
};

/** The records that are understood; others say nothing that is kept. */
const KNOWN = new Set([LEFT_OUT, 'path', 'linkpath', 'size', 'uid', 'gid', 'mtime']);

/** What is wrong with a tar. */
export class TarFault extends Error {
  override readonly name = 'TarFault';
}

/**
 * Reads a tar one entry at a time, with nothing of it in memory: ustar, pax and GNU (POSIX.1-2017, pax; GNU tar manual,
 * "Basic Tar Format"). Names are bytes.
 */
export class TarReader {
  readonly #bytes: ByteReader;
  readonly #global = new Map<string, Buffer>();
  /** What the writer of the tar could not read, as far as it was passed. */
  readonly unreadable: { path: string; code: string }[] = [];
  #first: TarEntry | null | undefined;
  #left = 0;
  #padding = 0;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#bytes = new ByteReader(source);
  }

  /** Reads the first header ahead: what is no tar is known before anything is done. Throws as {@link next} does. */
  async begin(): Promise<void> {
    this.#first = await this.next();
  }

  /**
   * The next entry; what is left of the content of the last one is passed over.
   * @returns null at the end, which has to be told by a block of zeros: a tar that is cut between two entries is no whole one
   * @throws {TarFault} when there is no entry
   */
  async next(): Promise<TarEntry | null> {
    const first = this.#first;
    this.#first = undefined;
    if (first !== undefined) return first;
    for await (const _rest of this.content());
    const records = new Map(this.#global);
    for (;;) {
      const block = await this.#take(TAR_BLOCK, 'ends without its end mark');
      if (isEnd(block)) return null;
      const flag = checked(block);
      const size = sizeOf(block);
      switch (flag) {
        case 'x':
          for (const [key, value] of await this.#pax(size)) {
            if (key === LEFT_OUT) this.#leftOut(value.toString());
            else records.set(key, value);
          }
          break;
        case 'g':
          for (const [key, value] of await this.#pax(size)) {
            this.#global.set(key, value);
            records.set(key, value);
          }
          break;
        case 'L':
          records.set('path', await this.#longName(size));
          break;
        case 'K':
          records.set('linkpath', await this.#longName(size));
          break;
        default:
          return this.#entry(block, flag, size, records);
      }
    }
  }

  /** The content of the last entry, to be iterated once. */
  async *content(): AsyncGenerator<Buffer> {
    while (this.#left > 0) {
      const part = await this.#bytes.some(this.#left);
      if (part === null) throw new TarFault('ends in the middle of an entry');
      this.#left -= part.length;
      yield part;
    }
    const padding = this.#padding;
    this.#padding = 0;
    if (padding > 0) await this.#take(padding, 'ends in the middle of an entry');
  }

  /** Passes over what follows the end, which writers fill up to a round size. */
  async drain(): Promise<void> {
    while ((await this.#bytes.some(Number.MAX_SAFE_INTEGER)) !== null);
  }

  #entry(block: Buffer, flag: string, header_size: number, records: Map<string, Buffer>): TarEntry {
    if (flag === 'S') throw sparse();
    const given = (key: string) => (records.get(key)?.length ? records.get(key) : undefined);
    const name = given('path') ?? headerName(block);
    const told = TYPES[flag] ?? 'unknown';
    // As old writers have it.
    const type = told === 'file' && name.at(-1) === 0x2f ? 'directory' : told;
    const size = decimal(given('size')) ?? header_size;
    this.#left = told === 'file' || told === 'unknown' ? size : 0;
    this.#padding = tarPadding(this.#left).length;
    return {
      name,
      type,
      mode: number(block, 100, 8) & 0o7777,
      uid: decimal(given('uid')) ?? number(block, 108, 8),
      gid: decimal(given('gid')) ?? number(block, 116, 8),
      size: type === 'directory' ? 0 : this.#left,
      mtime_ns: nanoseconds(given('mtime')) ?? BigInt(number(block, 136, 12)) * 1_000_000_000n,
      target: type === 'symlink' || type === 'hard-link' ? (given('linkpath') ?? text(block, 157, 100)) : Buffer.alloc(0),
    };
  }

  /** Keeps what the writer says that it left out. */
  #leftOut(text: string): void {
    const [, code = 'file_error', path = text] = /^([a-z_]{1,64}) (.*)$/s.exec(text) ?? [];
    if (this.unreadable.length < MAX_LEFT_OUT) this.unreadable.push({ path, code });
  }

  async #pax(size: number): Promise<Map<string, Buffer>> {
    if (size > MAX_PAX_BYTES) throw new TarFault(`holds a header of ${size} bytes: ${MAX_PAX_BYTES} are taken at most`);
    const records = decodePax(await this.#padded(size));
    if (records === null) throw new TarFault('holds an extended header that is broken');
    if ([...records.keys()].some((key) => key.startsWith('GNU.sparse.'))) throw sparse();
    return new Map([...records].filter(([key]) => KNOWN.has(key)));
  }

  async #longName(size: number): Promise<Buffer> {
    // One more than the longest, since the name ends with a NUL; it is refused by what looks at names.
    if (size > MAX_ARCHIVE_NAME_BYTES + 2) throw new TarFault(`holds a name of ${size} bytes: ${MAX_ARCHIVE_NAME_BYTES} are taken at most`);
    return text(await this.#padded(size), 0, size);
  }

  async #padded(size: number): Promise<Buffer> {
    const whole = await this.#take(size + tarPadding(size).length, 'ends in the middle of a header');
    return whole.subarray(0, size);
  }

  async #take(count: number, fault: string): Promise<Buffer> {
    const bytes = await this.#bytes.exactly(count);
    if (bytes === null) throw new TarFault(fault);
    return bytes;
  }
}

function sparse(): TarFault {
  return new TarFault('holds a file packed as a sparse one, which is not understood: pack it without --sparse');
}

function isEnd(block: Buffer): boolean {
  return block.every((byte) => byte === 0);
}

/** The type of an entry whose checksum is right: some old writers summed signed bytes. */
function checked(block: Buffer): string {
  const sums = [0, 0];
  for (let at = 0; at < TAR_BLOCK; at++) {
    const byte = at >= 148 && at < 156 ? 0x20 : (block[at] ?? 0);
    sums[0] = (sums[0] ?? 0) + byte;
    sums[1] = (sums[1] ?? 0) + (byte > 127 ? byte - 256 : byte);
  }
  const told = Number.parseInt(text(block, 148, 8).toString('latin1').trim(), 8);
  if (!sums.includes(told)) throw new TarFault('holds a header with a wrong checksum: it is broken, or no tar');
  return String.fromCharCode(block[156] ?? 0);
}

function headerName(block: Buffer): Buffer {
  const name = text(block, 0, 100);
  // GNU tar keeps other things where POSIX has the first part of a name.
  if (block.toString('latin1', 257, 263) !== 'ustar\0' || block[345] === 0) return name;
  return Buffer.concat([text(block, 345, 155), Buffer.from('/'), name]);
}

function sizeOf(block: Buffer): number {
  const size = number(block, 124, 12);
  if (size < 0) throw new TarFault('holds a header with a negative size');
  return size;
}

/** Up to the first NUL. */
function text(bytes: Buffer, offset: number, length: number): Buffer {
  const field = bytes.subarray(offset, offset + length);
  const end = field.indexOf(0);
  return Buffer.from(end < 0 ? field : field.subarray(0, end));
}

/** Octal digits, or a big-endian number where the first bit is set. */
function number(block: Buffer, offset: number, length: number): number {
  const field = block.subarray(offset, offset + length);
  if ((field[0] ?? 0) & 0x80) return binary(field);
  const digits = field
    .toString('latin1')
    .replace(/\0[\s\S]*$/, '')
    .trim();
  if (digits === '') return 0;
  if (!/^[0-7]+$/.test(digits)) throw new TarFault('holds a header with a broken number');
  return Number.parseInt(digits, 8);
}

function binary(field: Buffer): number {
  const bits = BigInt(`0x${field.toString('hex')}`);
  const width = BigInt(field.length * 8);
  const value = Number(field[0] === 0xff ? bits - (1n << width) : bits & ((1n << (width - 1n)) - 1n));
  if (!Number.isSafeInteger(value)) throw new TarFault('holds a header with a number that is too large');
  return value;
}

function decimal(value: Buffer | undefined): number | undefined {
  if (value === undefined) return undefined;
  const digits = value.toString('latin1');
  if (!/^\d{1,16}$/.test(digits) || !Number.isSafeInteger(Number(digits)))
    throw new TarFault('holds an extended header with a broken number');
  return Number(digits);
}

function nanoseconds(value: Buffer | undefined): bigint | undefined {
  if (value === undefined) return undefined;
  const match = /^(-?)(\d{1,15})(?:\.(\d*))?$/.exec(value.toString('latin1'));
  if (match === null) throw new TarFault('holds an extended header with a broken time');
  const [, sign, seconds = '', fraction = ''] = match;
  const ns = BigInt(seconds) * 1_000_000_000n + BigInt(fraction.slice(0, 9).padEnd(9, '0'));
  return sign === '-' ? -ns : ns;
}

import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { GatewayError, type ProcessEvent } from '../../protocol/index.js';
import type { Piece } from './piece.js';
import { Segment } from './segment.js';

/** A transcript is kept in so many files, so that it loses so much of it when it grows too large, but no more than 8 MiB. */
const SEGMENTS = 8;
const LARGEST_SEGMENT_BYTES = 8 * 1024 * 1024;

/** When room is looked for again, in milliseconds. */
const ROOM_MS = 5;

/** The disk that transcripts share. */
export interface Disk {
  /** Most of one transcript, in bytes. */
  readonly transcript_bytes: number;
  /** Takes so many bytes, for which the oldest of all make room; false when those are all being written at this moment. */
  take(bytes: number): boolean;
  /** Gives bytes back. */
  give(bytes: number): void;
  opened(segment: Segment, transcript: Transcript): void;
  removed(segment: Segment): void;
}

/** The events of one process on disk, oldest first, in files of their own: what comes too late for memory is read here. */
export class Transcript {
  readonly #dir: string;
  readonly #disk: Disk;
  readonly #segment_bytes: number;
  #segments: Segment[] = [];
  #bytes = 0;

  constructor(dir: string, disk: Disk) {
    this.#dir = dir;
    this.#disk = disk;
    this.#segment_bytes = Math.min(LARGEST_SEGMENT_BYTES, disk.transcript_bytes / SEGMENTS);
  }

  /** Takes a file that an earlier program left behind; the oldest first. */
  restore(segment: Segment): void {
    this.#segments.push(segment);
    this.#bytes += segment.size;
    this.#disk.give(-segment.size);
    this.#disk.opened(segment, this);
  }

  /** Most that is to be appended at once, in bytes. */
  get batch_bytes(): number {
    return Math.min(1024 * 1024, this.#segment_bytes);
  }

  /** The event after the last that is kept; 0 when none is. */
  get next_seq(): number {
    return this.#segments.at(-1)?.next_seq ?? 0;
  }

  /** Output that is kept, in bytes. */
  get output_bytes(): number {
    return this.#segments.reduce((sum, { output_bytes }) => sum + output_bytes, 0);
  }

  /** The first event that is kept from `seq` on; null when none is. */
  next(seq: number): number | null {
    const found = this.#find(seq);
    return found ? Math.max(seq, found.first_seq) : null;
  }

  /** The files, oldest first, each without a hole. */
  parts(): readonly Segment[] {
    return [...this.#segments];
  }

  /** Output bytes before the event `seq`, where a file begins with it; null elsewhere. */
  bytesBefore(seq: number): number | null {
    return this.#segments.find(({ first_seq }) => first_seq === seq)?.bytes_before ?? null;
  }

  /**
   * The events after `after_seq` without a hole, of `max_bytes` of output at most but the first always. None when they were
   * lost since {@link next} told of them: it does not do so again.
   * @throws {GatewayError} `resource_exhausted` when no file can be opened now
   */
  async read(after_seq: number, max_bytes: number): Promise<ProcessEvent[]> {
    const segment = this.#find(after_seq + 1);
    if (segment === undefined || segment.first_seq > after_seq + 1) return [];
    try {
      return await segment.read(after_seq, max_bytes);
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      if (code === 'EMFILE' || code === 'ENFILE') {
        throw new GatewayError('resource_exhausted', 'No file can be opened to read older output: try again.', {}, { cause });
      }
      segment.cut(after_seq + 1);
      return [];
    }
  }

  /**
   * Writes events that follow on one another; those written before may lie further back.
   * @param bytes_before output bytes before the first
   * @throws what the system says; then nothing was written, and the next write begins a new file
   */
  async append(pieces: readonly Piece[], bytes_before: number): Promise<void> {
    const bytes = pieces.reduce((sum, { parts }) => sum + parts.reduce((size, { length }) => size + length, 0), 0);
    const first_seq = (pieces[0] as Piece).seq;
    while (this.#bytes + bytes > this.#disk.transcript_bytes && this.#segments[0]) this.evict();
    while (!this.#disk.take(bytes)) await setTimeout(ROOM_MS);
    this.#bytes += bytes;
    try {
      await (await this.#segment(first_seq, bytes_before)).append(pieces);
    } catch (error) {
      this.#disk.give(bytes);
      this.#bytes -= bytes;
      await this.end();
      await this.#dropEmpty();
      throw error;
    }
  }

  /** Gives up the oldest file; false when it cannot be now. */
  evict(): boolean {
    const [oldest] = this.#segments;
    if (oldest === undefined || oldest.busy) return false;
    this.#segments.shift();
    void this.#remove(oldest);
    return true;
  }

  /** No more is written for now. */
  async end(): Promise<void> {
    const last = this.#segments.at(-1);
    const bytes = (await last?.seal()) ?? 0;
    if (last === undefined || !this.#segments.includes(last)) return;
    this.#bytes += bytes;
    this.#disk.give(-bytes);
  }

  /** A file that nothing could be written to is none: each attempt on a full disk begins another. */
  async #dropEmpty(): Promise<void> {
    const last = this.#segments.at(-1);
    if (last === undefined || last.next_seq > last.first_seq) return;
    this.#segments.pop();
    await this.#remove(last); // the next one may have its name
  }

  async #remove(segment: Segment): Promise<void> {
    this.#bytes -= segment.size;
    this.#disk.give(segment.size);
    this.#disk.removed(segment);
    await segment.remove();
  }

  /** Gives up all of it; nothing is being written, or will be. */
  async clear(): Promise<void> {
    await this.end();
    while (this.evict());
  }

  /** Takes its directory away, with all that is in it. */
  async remove(): Promise<void> {
    await rm(this.#dir, { recursive: true, force: true });
  }

  /** The first file that ends behind `seq`. */
  #find(seq: number): Segment | undefined {
    return this.#segments.find(({ next_seq }) => next_seq > seq);
  }

  /** The file to write to. */
  async #segment(first_seq: number, bytes_before: number): Promise<Segment> {
    const last = this.#segments.at(-1);
    if (last && !last.sealed && last.next_seq === first_seq && last.size < this.#segment_bytes) {
      last.busy = true;
      return last;
    }
    await this.end();
    await mkdir(this.#dir, { recursive: true, mode: 0o700 });
    const segment = new Segment(join(this.#dir, segmentName(first_seq, bytes_before)), first_seq, bytes_before);
    await segment.create();
    segment.busy = true;
    this.#segments.push(segment);
    this.#disk.opened(segment, this);
    return segment;
  }
}

/** Such as 12-3456: the first event, and how many output bytes came before it. */
function segmentName(first_seq: number, bytes_before: number): string {
  return `${first_seq}-${bytes_before}`;
}

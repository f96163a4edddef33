import { type FileHandle, open, unlink } from 'node:fs/promises';
import type { ProcessEvent, Stream } from '../../protocol/index.js';
import { bytesIn, chunksOf } from './block.js';
import { eventOf, type Piece } from './piece.js';
import { readRecords } from './read-records.js';
import { type Content, END_BYTES, endRecord } from './record.js';
import { SegmentIndex } from './segment-index.js';

/** One append-only file of consecutive events of one process. */
export class Segment {
  readonly path: string;
  /** The first event, and how many output bytes came before it. */
  readonly first_seq: number;
  readonly bytes_before: number;
  /** The event after the last that can be read. */
  next_seq: number;
  /** Size of the file, in bytes, as far as it is good. */
  size = 0;
  output_bytes = 0;
  /** Whether a write is under way, or about to be. */
  busy = false;
  /** Whether nothing more is written to it. */
  sealed = false;
  readonly #index = new SegmentIndex();
  /** Whether `output_bytes` counts some that cannot be read. */
  #damaged = false;
  #counted: { stream: Stream | undefined; next_seq: number; bytes: number } | null = null;
  #file: FileHandle | null = null;

  constructor(path: string, first_seq: number, bytes_before: number) {
    this.path = path;
    this.first_seq = first_seq;
    this.next_seq = first_seq;
    this.bytes_before = bytes_before;
  }

  /** Output bytes before the event after its last. */
  get bytes_after(): number {
    return this.bytes_before + this.output_bytes;
  }

  /** Opens the file anew. @throws what the system says */
  async create(): Promise<void> {
    this.#file = await open(this.path, 'w', 0o600);
  }

  /**
   * Writes at the end. What was not written whole does not count, and the next write begins where this one did.
   * @throws what the system says
   */
  async append(pieces: readonly Piece[]): Promise<void> {
    try {
      await this.#write(pieces.flatMap(({ parts }) => parts));
    } finally {
      this.busy = false;
    }
    for (const { seq, next_seq, parts, output_bytes } of pieces) {
      this.#index.push(seq, this.size);
      for (const part of parts) this.size += part.length;
      this.output_bytes += output_bytes;
      this.next_seq = next_seq;
    }
  }

  /** The events after `after_seq`, of `max_bytes` at most but the first always. Where the file is damaged, it ends for good. */
  async read(after_seq: number, max_bytes: number): Promise<ProcessEvent[]> {
    const events: ProcessEvent[] = [];
    const { size, next_seq } = this;
    let room = max_bytes;
    const file = await open(this.path);
    try {
      for await (const { content, offset } of readRecords(file, this.#index.offsetOf(after_seq + 1), size)) {
        if ('block' in content) this.#index.push(content.block.first_seq, offset); // one that an earlier program wrote has no index yet
        for (const event of eventsOf(content, after_seq)) {
          const length = event.event === 'output' ? event.chunk.length : 0;
          if (events.length > 0 && length > room) return events;
          room -= length;
          events.push(event);
        }
        if (room <= 0) return events;
      }
    } finally {
      await file.close();
    }
    const end = after_seq + events.length + 1;
    if (end < next_seq) this.cut(end);
    return events;
  }

  /**
   * Bytes of one stream, or of all, before the event `next_seq`, as far as they can be read. They are counted where they lie,
   * since no file says how much of it is of which stream.
   * @throws what the system says
   */
  async bytes(next_seq: number, stream?: Stream): Promise<number> {
    const end = Math.min(next_seq, this.next_seq);
    if (end === this.next_seq && stream === undefined && !this.#damaged) return this.output_bytes;
    if (this.#counted?.next_seq === end && this.#counted.stream === stream) return this.#counted.bytes;
    const bytes = await this.#count(end, stream);
    this.#counted = { stream, next_seq: end, bytes };
    return bytes;
  }

  async #count(next_seq: number, stream: Stream | undefined): Promise<number> {
    let bytes = 0;
    const file = await open(this.path);
    try {
      for await (const { content } of readRecords(file, 0, this.size)) {
        if (!('block' in content)) continue;
        if (content.block.first_seq >= next_seq) break;
        bytes += bytesIn(content.block, next_seq, stream);
      }
    } finally {
      await file.close();
    }
    return bytes;
  }

  /** It ends before the event `next_seq`, since the rest cannot be read. */
  cut(next_seq: number): void {
    this.sealed = true;
    if (next_seq >= this.next_seq) return;
    this.next_seq = next_seq;
    this.#damaged = true;
  }

  /**
   * Nothing more is written but its end, so that nobody has to look for that. What a failed write left behind is cut off.
   * Returns the size of what was written, in bytes.
   */
  async seal(): Promise<number> {
    this.sealed = true;
    const file = this.#file;
    this.#file = null;
    if (file === null) return 0;
    const size = this.size;
    try {
      if ((await file.stat()).size > size) await file.truncate(size);
      const { bytesWritten } = await file.writev(endRecord(this), size);
      if (bytesWritten === END_BYTES) this.size += bytesWritten;
    } catch {
      // it stays behind the end, where nobody reads
    }
    await file.close().catch(() => {});
    return this.size - size;
  }

  /** Takes it away. */
  async remove(): Promise<void> {
    this.sealed = true;
    const file = this.#file;
    this.#file = null;
    await Promise.allSettled([file?.close(), unlink(this.path)]); // what cannot be removed now, the next start removes
  }

  /** The system writes less than it was asked to when the disk is nearly full, and says why the next time. */
  async #write(parts: Uint8Array[]): Promise<void> {
    const file = this.#file as FileHandle;
    let rest = parts;
    let at = this.size;
    for (;;) {
      const { bytesWritten } = await file.writev(rest, at);
      at += bytesWritten;
      rest = after(rest, bytesWritten);
      if (rest.length === 0) return;
    }
  }
}

function eventsOf(content: Content, after_seq: number): Iterable<ProcessEvent> {
  if ('block' in content) return chunksOf(content.block, after_seq, content.at_ms);
  return 'json' in content ? eventOf(content.json, after_seq) : [];
}

/** What is left of the parts behind so many bytes. */
function after(parts: Uint8Array[], bytes: number): Uint8Array[] {
  let left = bytes;
  return parts.flatMap((part) => {
    const skip = Math.min(left, part.length);
    left -= skip;
    return skip === part.length ? [] : [part.subarray(skip)];
  });
}

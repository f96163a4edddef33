import type { Exit, Gap, OutputEvent, ProcessEvent, Stream } from '../protocol/index.js';
import { ByteHistory } from './byte-history.js';
import { SegmentList } from './segment-list.js';
import type { LogPiece } from './transcript/piece.js';
import { Waiters } from './waiters.js';

/** Events in one read or batch: the work of one turn stays small however small the chunks are. */
export const MAX_EVENTS = 2_000;

/** What a read took from the log. */
export interface LogRead {
  chunks: OutputEvent[];
  /** The last event passed: told, filtered out, or missed in the gap. */
  last_seq: number;
  gap: Gap | null;
}

/** A reader whose batch is good for a while only. */
export interface Borrower {
  /** Whether it still uses one of these events. */
  uses(first_seq: number, last_seq: number): boolean;
}

/** Events of the archive without a hole. */
export interface ArchivePart {
  readonly first_seq: number;
  /** The event after its last. */
  readonly next_seq: number;
  /** Bytes of one stream, or of all, before an event, as far as they can be read. Throws what the system says. */
  bytes(next_seq: number, stream?: Stream): Promise<number>;
}

/** Where events are that are no longer in memory. */
export interface Archive {
  /** The first event it has from `seq` on; null when it has none. */
  next(seq: number): number | null;
  /** Output bytes before the event `seq`; null where it does not know. */
  bytesBefore(seq: number): number | null;
  /** Output that it has, in bytes, and the event after its last. */
  readonly output_bytes: number;
  readonly next_seq: number;
  /** What it has, oldest first. */
  parts(): readonly ArchivePart[];
  /**
   * The events after `after_seq` without a hole, of `max_bytes` of output at most but the first always. None when they were
   * lost meanwhile: `next` does not tell of them again.
   */
  read(after_seq: number, max_bytes: number): Promise<ProcessEvent[]>;
}

/**
 * The one sequence of a process: output chunks, `exited`, `closed`, numbered from 1 without holes. Output is bounded:
 * the oldest chunks are evicted, and whoever comes too late is told by a gap. `exited` and `closed` are never evicted.
 * Readers hold a number, nothing else; the log keeps nothing for them but a list of whom to wake.
 */
export class EventLog {
  readonly retain_bytes: number;
  readonly waiters = new Waiters();
  readonly borrowers = new Set<Borrower>();
  readonly #segments: SegmentList;
  readonly #history = new ByteHistory();
  readonly #archive: Archive | null;
  #evicted_seq = 0;
  #lost_seq = Number.POSITIVE_INFINITY;
  #keep_after = Number.POSITIVE_INFINITY;
  #memo: { after_seq: number; next_seq: number; keep: boolean; batch: ProcessEvent[] } | null = null;
  next_seq = 1;
  total_bytes = 0;
  retained_bytes = 0;
  exited: (Exit & { seq: number }) | null = null;
  closed_seq: number | null = null;

  /**
   * @param retain_bytes output to hold in memory, in bytes; the newest chunk is held even when it is larger
   * @param archive where more of it is. Default: nowhere
   */
  constructor(retain_bytes: number, archive: Archive | null = null) {
    this.retain_bytes = retain_bytes;
    this.#archive = archive;
    this.#segments = new SegmentList(retain_bytes, (first_seq, last_seq) => this.#lent(first_seq, last_seq));
  }

  /** The oldest event that can be read; `next_seq` when none can. */
  get first_seq(): number {
    const marks = [this.#archive?.next(1), this.#segments.first_seq, this.exited?.seq, this.closed_seq, this.next_seq];
    return Math.min(...marks.filter((seq) => typeof seq === 'number'));
  }

  /** The event from which on all is in memory. */
  get memory_seq(): number {
    return this.#evicted_seq + 1;
  }

  /** What the archive has, oldest first; the last of it may be in memory too. */
  get archive_parts(): readonly ArchivePart[] {
    return this.#archive?.parts() ?? [];
  }

  /** Output that can be read, from memory or from the archive, in bytes. */
  get readable_bytes(): number {
    if (this.#archive === null || this.#archive.next_seq <= this.#evicted_seq)
      return this.retained_bytes + (this.#archive?.output_bytes ?? 0);
    return this.#archive.output_bytes + this.#segments.bytesAfter(this.#archive.next_seq - 1);
  }

  /** Appends a copy of one chunk. */
  append(stream: Stream, chunk: Uint8Array): void {
    this.#segments.append(this.next_seq++, stream, chunk);
    this.total_bytes += chunk.length;
    this.retained_bytes += chunk.length;
    this.#trim();
    this.waiters.wake();
  }

  /** Keeps all after this event in memory until it is told otherwise; returns the event after which it does. */
  keepAfter(seq: number): number {
    this.#keep_after = seq;
    this.#trim();
    return Math.max(seq, this.#evicted_seq);
  }

  appendExited(exit: Exit): void {
    this.exited = { ...exit, seq: this.next_seq++ };
    this.#segments.seal();
    this.waiters.wake();
  }

  appendClosed(): void {
    this.closed_seq = this.next_seq++;
    this.waiters.wake();
  }

  /** Becomes the log of a process that is over, of which nothing is in memory. @param lost_seq the first event that is lost. Default: none is */
  restore(exited: Exit & { seq: number }, closed_seq: number, total_bytes: number, lost_seq = Number.POSITIVE_INFINITY): void {
    this.exited = exited;
    this.closed_seq = closed_seq;
    this.next_seq = closed_seq + 1;
    this.total_bytes = total_bytes;
    this.#evicted_seq = exited.seq === closed_seq - 1 ? exited.seq - 1 : closed_seq - 1;
    this.#lost_seq = lost_seq;
  }

  /** Whether the event after `after_seq` is in the archive alone: {@link read} and {@link batch} end before it. */
  archived(after_seq: number): boolean {
    return after_seq < this.#evicted_seq && this.#archive?.next(after_seq + 1) === after_seq + 1;
  }

  /** What the archive has after `after_seq`; see {@link Archive.read}. */
  async fetch(after_seq: number, max_bytes: number): Promise<ProcessEvent[]> {
    return (await this.#archive?.read(after_seq, max_bytes)) ?? [];
  }

  /** Output after `after_seq`, `max_bytes` at most but the first chunk always, of one stream or of all. */
  read(after_seq: number, max_bytes: number, stream?: Stream): LogRead {
    const missing_seq = this.#missing(after_seq);
    const gap = this.#gap(after_seq + 1, missing_seq);
    const chunks: OutputEvent[] = [];
    let last_seq = Math.max(after_seq, missing_seq);
    if (last_seq < this.#evicted_seq) return { chunks, last_seq, gap };
    let room = max_bytes;
    for (const event of this.#segments.after(last_seq)) {
      if (stream === undefined || event.stream === stream) {
        if (chunks.length === MAX_EVENTS || (chunks.length > 0 && event.chunk.length > room)) return { chunks, last_seq, gap };
        room -= event.chunk.length;
        chunks.push(event);
      }
      last_seq = event.seq;
    }
    return { chunks, last_seq: this.next_seq - 1, gap };
  }

  /**
   * The next events after `after_seq`, of every kind and in order, `max_bytes` of payload at most but the first
   * always; empty when there are none yet. Readers at the same place get the same array, so that what is made of it
   * can be made once.
   * @param keep whether the bytes stay as they are; else they are good while a borrower uses them
   */
  batch(after_seq: number, max_bytes: number, keep = true): ProcessEvent[] {
    const memo = this.#memo;
    if (memo?.after_seq === after_seq && memo.next_seq === this.next_seq && memo.keep === keep) return memo.batch;
    const batch: ProcessEvent[] = [];
    let room = max_bytes;
    for (const event of this.#events(after_seq, keep)) {
      const size = event.event === 'output' ? event.chunk.length : 0;
      if (batch.length === MAX_EVENTS || (batch.length > 0 && size > room)) break;
      room -= size;
      batch.push(event);
    }
    this.#memo = { after_seq, next_seq: this.next_seq, keep, batch };
    return batch;
  }

  /** Output bytes before the event after `after_seq`, or null when that is forgotten. */
  bytesBefore(after_seq: number): number | null {
    if (after_seq < this.#evicted_seq) return this.#history.before(after_seq + 1) ?? this.#archive?.bytesBefore(after_seq + 1) ?? null;
    return this.total_bytes - this.#segments.bytesAfter(after_seq);
  }

  /** What memory holds after `after_seq`, as it lies there. Its bytes are good while they are kept. */
  *pieces(after_seq: number): Generator<LogPiece, void, undefined> {
    let exited = this.exited !== null && this.exited.seq > after_seq ? this.exited : null;
    for (const block of this.#segments.blocks(after_seq)) {
      if (exited && exited.seq < block.first_seq) {
        yield { event: 'exited', ...exited };
        exited = null;
      }
      yield block;
    }
    if (exited) yield { event: 'exited', ...exited };
    if (this.closed_seq !== null && this.closed_seq > after_seq) yield { event: 'closed', seq: this.closed_seq };
  }

  *#events(after_seq: number, keep: boolean): Generator<ProcessEvent, void, undefined> {
    let exited = this.exited !== null && this.exited.seq > after_seq ? this.exited : null;
    const missing_seq = this.#missing(after_seq);
    let from = after_seq + 1;
    if (exited && exited.seq <= missing_seq) {
      const gap = this.#gap(from, exited.seq - 1);
      if (gap) yield { event: 'gap', ...gap };
      yield { event: 'exited', ...exited };
      from = exited.seq + 1;
      exited = null;
    }
    const gap = this.#gap(from, missing_seq);
    if (gap) yield { event: 'gap', ...gap };
    if (Math.max(after_seq, missing_seq) < this.#evicted_seq) return;
    for (const chunk of this.#segments.after(Math.max(after_seq, missing_seq), keep)) {
      if (exited && exited.seq < chunk.seq) {
        yield { event: 'exited', ...exited };
        exited = null;
      }
      yield chunk;
    }
    if (exited) yield { event: 'exited', ...exited };
    if (this.closed_seq !== null && this.closed_seq > after_seq) yield { event: 'closed', seq: this.closed_seq };
  }

  /** The last event after `after_seq` that is nowhere any more; what comes then is in the archive, or in memory. */
  #missing(after_seq: number): number {
    const kept_seq = after_seq < this.#evicted_seq ? this.#archive?.next(after_seq + 1) : null;
    return Math.min(this.#evicted_seq, (kept_seq ?? Number.POSITIVE_INFINITY) - 1);
  }

  #gap(from_seq: number, to_seq: number): Gap | null {
    if (from_seq > to_seq) return null;
    if (to_seq >= this.#lost_seq) return { from_seq, to_seq, bytes: null, reason: 'lost' };
    const start = this.bytesBefore(from_seq - 1);
    const end = this.bytesBefore(to_seq);
    return { from_seq, to_seq, bytes: start === null || end === null ? null : end - start, reason: 'evicted' };
  }

  #lent(first_seq: number, last_seq: number): boolean {
    for (const borrower of this.borrowers) if (borrower.uses(first_seq, last_seq)) return true;
    return false;
  }

  #trim(): void {
    while (this.retained_bytes > this.retain_bytes && this.#segments.count > 1) {
      if ((this.#segments.first_seq as number) > this.#keep_after) return;
      this.#evict();
    }
  }

  #evict(): void {
    const seq = this.#segments.first_seq as number;
    this.#history.push(seq, this.total_bytes - this.retained_bytes);
    this.retained_bytes -= this.#segments.shift();
    this.#evicted_seq = seq;
    if (this.#memo && this.#memo.after_seq < seq) this.#memo = null;
  }
}

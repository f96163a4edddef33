import { MAX_TIMEOUT_MS } from '../../protocol/index.js';
import { type LogPiece, type Piece, pieceOf } from './piece.js';
import { PrintTimes } from './print-times.js';
import { GATHER_MS } from './record.js';
import type { Transcript } from './transcript.js';

/** When writing is tried again after it failed, in milliseconds. */
const RETRY_MS = 1_000;

/** So much output waits no longer, in bytes. */
const GATHER_BYTES = 64 * 1024;

/** Output that may wait to be written whatever is retained in memory, in bytes. */
const SLACK_BYTES = 256 * 1024;

/** Records of one write. */
const MOST_PIECES = 256;

/** What is written: the log of a process. */
export interface Source {
  readonly next_seq: number;
  readonly total_bytes: number;
  readonly closed_seq: number | null;
  readonly waiters: { add(waiter: { wake(): void }): void; delete(waiter: { wake(): void }): void };
  /** What it holds after an event, oldest first. */
  pieces(after_seq: number): Iterable<LogPiece>;
  /** Keeps all after this event until it is told otherwise; returns the event after which it does, which is later where it has given up some. */
  keepAfter(seq: number): number;
  bytesBefore(after_seq: number): number | null;
}

/** What makes the process wait for a reader. */
export interface Pace {
  join(reader: TranscriptWriter): void;
  /** To be called when a reader has moved, or does not count any more. */
  advanced(reader?: TranscriptWriter): void;
}

/** Told of what becomes of writes. */
export interface WriteReport {
  written(): void;
  failed(error: Error): void;
}

/**
 * Writes the events of a process to its transcript: a reader of the log like any other, one batch at a time, for which the
 * log keeps what is not written yet, and for which the process waits when the disk is slower than it. Where the disk takes
 * nothing, the process goes on without it: what memory gives up meanwhile is missing in the transcript.
 */
export class TranscriptWriter {
  readonly transcript: Transcript;
  readonly #report: WriteReport;
  readonly #times = new PrintTimes();
  #log!: Source;
  #pace!: Pace;
  #begun = false;
  #after_seq = 0;
  #writing: Promise<void> | null = null;
  #gathering: NodeJS.Timeout | null = null;
  #retry: NodeJS.Timeout | null = null;
  #over = false;
  /** As a reader whom the process waits for: output that is written, in bytes. */
  position = 0;
  paces = true;
  readonly hold_ms = MAX_TIMEOUT_MS;
  readonly slack_bytes = SLACK_BYTES;

  constructor(transcript: Transcript, report: WriteReport) {
    this.transcript = transcript;
    this.#report = report;
  }

  /** Begins with the first event of a log. */
  begin(log: Source, pace: Pace): void {
    this.#log = log;
    this.#pace = pace;
    this.#begun = true;
    log.keepAfter(0);
    log.waiters.add(this);
    pace.join(this);
  }

  /** Resolves when all that there is now is written, or cannot be. */
  async flush(): Promise<void> {
    if (!this.#begun) return;
    this.#mark();
    const last_seq = this.#log.next_seq - 1;
    while (this.#after_seq < last_seq && !this.#over && this.#retry === null) await this.#write();
  }

  /** Resolves when all is written, or cannot be, and its file is closed. */
  async close(): Promise<void> {
    await this.flush();
    if (this.#begun) this.#end();
    await this.transcript.end();
  }

  /** Leaves the rest; resolves when nothing is being written any more. */
  async stop(): Promise<void> {
    if (!this.#begun) return;
    this.#end();
    this.#letGo();
    await this.#writing;
  }

  /** Something was printed. */
  wake(): void {
    this.#log.waiters.add(this);
    this.#mark();
    this.#writeSoon();
  }

  #mark(): void {
    this.#times.mark(this.#log.next_seq - 1);
  }

  /** Writes at once what is much, and the last; a little waits for more. */
  #writeSoon(): void {
    if (!this.#isBehind() || this.#writing !== null || this.#retry !== null) return;
    if (this.#isDue()) void this.#write();
    else this.#gathering ??= setTimeout(() => void this.#write(), GATHER_MS).unref();
  }

  #isBehind(): boolean {
    return !this.#over && this.#after_seq < this.#log.next_seq - 1;
  }

  #isDue(): boolean {
    return this.#log.closed_seq !== null || this.#log.total_bytes - this.position >= GATHER_BYTES;
  }

  #write(): Promise<void> {
    this.#gathered();
    this.#writing ??= this.#writeDue().finally(() => {
      this.#writing = null;
      this.#writeSoon();
    });
    return this.#writing;
  }

  async #writeDue(): Promise<void> {
    if (this.#log.closed_seq !== null && this.#log.total_bytes === 0 && this.#after_seq === 0) {
      this.#end(); // nothing was printed, and its record says how it ended
      return;
    }
    try {
      do await this.#writeBatch();
      while (this.#isBehind() && this.#isDue());
      if (this.#after_seq !== this.#log.closed_seq) return;
      this.#end();
      await this.transcript.end();
    } catch (error) {
      this.#rest(error as Error);
    }
  }

  #gathered(): void {
    if (this.#gathering) clearTimeout(this.#gathering);
    this.#gathering = null;
  }

  async #writeBatch(): Promise<void> {
    const pieces = this.#batch();
    await this.transcript.append(pieces, this.position);
    if (this.#over) return;
    this.#after_seq = (pieces.at(-1) as Piece).next_seq - 1;
    this.position += pieces.reduce((sum, { output_bytes }) => sum + output_bytes, 0);
    this.#log.keepAfter(this.#after_seq);
    this.#report.written();
    this.#pace.advanced(this);
  }

  #batch(): Piece[] {
    const pieces: Piece[] = [];
    let room = this.transcript.batch_bytes;
    for (const taken of this.#log.pieces(this.#after_seq)) {
      for (const piece of this.#timed(taken)) {
        pieces.push(piece);
        room -= piece.parts.reduce((sum, { length }) => sum + length, 0);
        if (room <= 0 || pieces.length === MOST_PIECES) return pieces;
      }
    }
    return pieces;
  }

  /** In parts that were printed at different times. */
  *#timed(piece: LogPiece): Generator<Piece, void, undefined> {
    if ('event' in piece) return yield pieceOf(piece, this.#times.of(piece.seq).at_ms);
    let { first_seq, marks, bytes } = piece;
    for (;;) {
      const { last_seq, at_ms } = this.#times.of(first_seq);
      const count = Math.min(marks.length, last_seq + 1 - first_seq);
      if (count === marks.length || count <= 0) return yield pieceOf({ first_seq, marks, bytes }, at_ms);
      const end = (marks[count - 1] as number) >> 2;
      yield pieceOf({ first_seq, marks: Array.prototype.slice.call(marks, 0, count), bytes: bytes.subarray(0, end) }, at_ms);
      marks = Array.prototype.slice.call(marks, count).map((mark: number) => mark - end * 4);
      bytes = bytes.subarray(end);
      first_seq += count;
    }
  }

  /** The process goes on without the disk for a while. */
  #rest(error: Error): void {
    this.#report.failed(error);
    if (this.#over) return;
    this.#letGo();
    this.#retry = setTimeout(() => this.#resume(), RETRY_MS).unref();
  }

  /** Neither the process nor its memory waits for it any more. */
  #letGo(): void {
    this.paces = false;
    this.#log.keepAfter(Number.POSITIVE_INFINITY);
    this.#pace.advanced();
  }

  #resume(): void {
    this.#retry = null;
    this.#after_seq = this.#log.keepAfter(this.#after_seq);
    this.position = this.#log.bytesBefore(this.#after_seq) as number;
    this.paces = true;
    void this.flush();
  }

  #end(): void {
    this.#over = true;
    this.#log.waiters.delete(this);
    this.#gathered();
    if (this.#retry) clearTimeout(this.#retry);
    this.#retry = null;
  }
}

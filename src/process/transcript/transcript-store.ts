import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { openDataDirectory } from './data-directory.js';
import type { Segment } from './segment.js';
import { type Disk, Transcript } from './transcript.js';
import { TranscriptWriter, type WriteReport } from './transcript-writer.js';

/** How much output is kept on disk. */
export interface TranscriptLimits {
  /** Of one process, in bytes. */
  transcript_bytes: number;
  /** Of all processes together, in bytes. */
  transcript_total_bytes: number;
}

const MIB = 1024 * 1024;

/** What holds unless settings say otherwise: a long build in full, and a disk that is not filled. */
export const DEFAULT_TRANSCRIPT_LIMITS: TranscriptLimits = { transcript_bytes: 64 * MIB, transcript_total_bytes: 4096 * MIB };

/** Least of both, in bytes: below it one write would be too much. */
export const MIN_TRANSCRIPT_BYTES = MIB;

/** Told in words when the disk takes nothing any more, and when it does again. */
export type TellTrouble = (what: string, error?: Error) => void;

/** How long the end waits for what is being written, in milliseconds. */
const END_MS = 2_000;

/** The transcripts of all processes, in one directory: the oldest output of all makes room for the newest. */
export class TranscriptStore implements Disk, WriteReport {
  readonly transcript_bytes: number;
  readonly #total_bytes: number;
  readonly #dir: string;
  readonly #tell: TellTrouble;
  /** Oldest first. */
  readonly #segments = new Map<Segment, Transcript>();
  readonly #writers = new Map<string, TranscriptWriter>();
  readonly #removals = new Map<string, Promise<void>>();
  #failing = false;
  /** On disk, in bytes: as large as the files are. */
  bytes = 0;
  /** Writes that failed. */
  failures = 0;

  private constructor(dir: string, limits: TranscriptLimits, tell: TellTrouble) {
    this.transcript_bytes = Math.min(limits.transcript_bytes, limits.transcript_total_bytes);
    this.#total_bytes = limits.transcript_total_bytes;
    this.#dir = join(dir, 'transcripts');
    this.#tell = tell;
  }

  /**
   * Opens a data directory, which nobody else may have open.
   * @throws {GatewayError} `invalid_argument` when it cannot be used, or is that of a newer version
   */
  static open(dir: string, limits: TranscriptLimits, tell: TellTrouble): TranscriptStore {
    openDataDirectory(dir);
    rmSync(join(dir, 'transcripts'), { recursive: true, force: true });
    return new TranscriptStore(dir, limits, tell);
  }

  /** Begins the transcript of a new process. */
  writer(process_id: string): TranscriptWriter {
    const writer = new TranscriptWriter(new Transcript(join(this.#dir, process_id), this), this);
    this.#writers.set(process_id, writer);
    return writer;
  }

  /** What of an earlier process of this id is still being taken away. */
  removal(process_id: string): Promise<void> | undefined {
    return this.#removals.get(process_id);
  }

  /** Takes the transcript of a process away. */
  remove(process_id: string): void {
    const writer = this.#writers.get(process_id);
    if (writer === undefined) return;
    this.#writers.delete(process_id);
    const removal = writer
      .stop()
      .then(() => writer.transcript.remove())
      .catch((error) => this.failed(error))
      .finally(() => this.#removals.delete(process_id));
    this.#removals.set(process_id, removal);
  }

  /** Resolves when all is written, or after 2 s where the disk is slower than that. */
  async close(): Promise<void> {
    const all = [...[...this.#writers.values()].map((writer) => writer.close()), ...this.#removals.values()];
    await Promise.race([Promise.allSettled(all), new Promise((resolve) => setTimeout(resolve, END_MS).unref())]);
  }

  take(bytes: number): boolean {
    for (const transcript of this.#segments.values()) {
      if (this.bytes + bytes <= this.#total_bytes) break;
      transcript.evict();
    }
    if (this.bytes + bytes > this.#total_bytes) return false;
    this.bytes += bytes;
    return true;
  }

  give(bytes: number): void {
    this.bytes -= bytes;
  }

  opened(segment: Segment, transcript: Transcript): void {
    this.#segments.set(segment, transcript);
  }

  removed(segment: Segment): void {
    this.#segments.delete(segment);
  }

  written(): void {
    if (!this.#failing) return;
    this.#failing = false;
    this.#tell('output is written to the data directory again');
  }

  failed(error: Error): void {
    this.failures++;
    if (this.#failing) return;
    this.#failing = true;
    this.#tell('output cannot be written to the data directory: it is kept in memory, and the oldest is missing later', error);
  }
}

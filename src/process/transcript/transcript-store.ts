import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { GatewayError } from '../../protocol/index.js';
import { quoted } from '../../protocol/quoted.js';
import { attempt, openDataDirectory } from './data-directory.js';
import { type LeftProcess, leftProcess } from './left-process.js';
import type { LeftSegment } from './left-segment.js';
import { type Begun, type Closed, type Exited, type Listed, ProcessRecord, type Started } from './process-record.js';
import type { Segment } from './segment.js';
import { SpentIds } from './spent-ids.js';
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

/** What is on disk of one process. */
interface Kept {
  writer: TranscriptWriter;
  record: ProcessRecord;
}

/** A process of an earlier program, and where its output is. */
export interface Restored extends LeftProcess {
  writer: TranscriptWriter;
}

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
  readonly #kept = new Map<string, Kept>();
  readonly #removals = new Map<string, Promise<void>>();
  readonly spent: SpentIds;
  /** What an earlier program left behind, in the order of its end. Taken away once. */
  restored: Restored[] = [];
  #failing = false;
  /** On disk, in bytes: as large as the files are. */
  bytes = 0;
  /** Writes that failed. */
  failures = 0;

  private constructor(dir: string, limits: TranscriptLimits, tell: TellTrouble) {
    this.transcript_bytes = Math.min(limits.transcript_bytes, limits.transcript_total_bytes);
    this.#total_bytes = limits.transcript_total_bytes;
    this.#dir = join(dir, 'transcripts');
    this.spent = new SpentIds(join(dir, 'spent'));
    this.#tell = tell;
  }

  /**
   * Opens a data directory, which nobody else may have open.
   * @throws {GatewayError} `invalid_argument` when it cannot be used, or is that of a newer version
   */
  static open(dir: string, limits: TranscriptLimits, tell: TellTrouble): TranscriptStore {
    openDataDirectory(dir);
    return attempt(dir, () => {
      const store = new TranscriptStore(dir, limits, tell);
      store.#restore();
      return store;
    });
  }

  /**
   * Begins to keep a new process; `written` resolves when what is known of it is written, or cannot be. With `synced`, which is
   * a promise, it is on the device before.
   * @throws {GatewayError} `resource_exhausted` when what is promised cannot be kept
   */
  async begin(process_id: string, facts: Begun, synced: boolean): Promise<{ writer: TranscriptWriter; written: Promise<void> }> {
    await this.#removals.get(process_id);
    const { writer, record } = this.#keep(process_id);
    if (!synced) return { writer, written: record.begin(facts) };
    try {
      await record.sync(facts);
      return { writer, written: Promise.resolve() };
    } catch (cause) {
      this.failed(cause as Error);
      await this.remove(process_id);
      throw unpromised(process_id, cause);
    }
  }

  /** Begins to keep the output of a new process, and nothing else of it. */
  writer(process_id: string): TranscriptWriter {
    return this.#keep(process_id).writer;
  }

  /** Keeps what became of a process. */
  add(process_id: string, facts: Listed | Started | Exited | Closed): void {
    this.#kept.get(process_id)?.record.add(facts);
  }

  /**
   * Takes all of a process away; resolves when nothing of it is left.
   * @param spend whether its id is never to be used again
   */
  async remove(process_id: string, spend = false): Promise<void> {
    const spent = spend ? this.spent.add(process_id) : Promise.resolve();
    const kept = this.#kept.get(process_id);
    this.#kept.delete(process_id);
    if (kept) this.#removals.set(process_id, this.#remove(process_id, kept, spent));
    await Promise.all([this.#removals.get(process_id), spent.catch((error) => this.failed(error))]);
  }

  /** Resolves when all is written, or after 2 s where the disk is slower than that. */
  async close(): Promise<void> {
    const all = [...this.#kept.values()].flatMap(({ writer, record }) => [writer.close(), record.end()]);
    const settled = Promise.allSettled([...all, ...this.#removals.values()]);
    await Promise.race([settled, new Promise((resolve) => setTimeout(resolve, END_MS).unref())]);
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

  #keep(process_id: string, record_bytes = 0): Kept {
    const dir = join(this.#dir, process_id);
    const kept = { writer: new TranscriptWriter(new Transcript(dir, this), this), record: new ProcessRecord(dir, this, record_bytes) };
    this.#kept.set(process_id, kept);
    return kept;
  }

  /** Until its id is known to be spent, the record stays: that it was there is what the next start would know it by. */
  async #remove(process_id: string, { writer, record }: Kept, spent: Promise<void>): Promise<void> {
    try {
      await writer.stop();
      await record.end();
      await writer.transcript.clear();
      await spent;
      await writer.transcript.remove();
    } catch (error) {
      this.failed(error as Error);
    }
    this.#removals.delete(process_id);
  }

  #restore(): void {
    const left = readdirSync(this.#dir).flatMap((process_id) => this.#leftProcess(process_id));
    left.sort((a, b) => Date.parse(a.facts.closed_at) - Date.parse(b.facts.closed_at));
    const files: [LeftSegment, Transcript][] = [];
    this.restored = left.map((process) => {
      const { writer, record } = this.#keep(process.process_id, process.record_bytes);
      files.push(...process.segments.map((file): [LeftSegment, Transcript] => [file, writer.transcript]));
      if (process.concluded) record.add(process.facts);
      return { ...process, writer };
    });
    files.sort(([a], [b]) => a.written_at_ms - b.written_at_ms || a.segment.first_seq - b.segment.first_seq);
    for (const [{ segment }, transcript] of files) transcript.restore(segment);
    this.take(0);
    const lost = left.filter((process) => process.lost).length;
    if (lost > 0) this.#tell(`${lost} processes had not closed when the program that held them ended: they are told as lost`);
  }

  #leftProcess(process_id: string): LeftProcess[] {
    const dir = join(this.#dir, process_id);
    try {
      const left = leftProcess(dir, process_id);
      if (typeof left === 'object') return [left];
      if (left === 'spent') this.spent.add(process_id).catch((error) => this.failed(error));
    } catch (error) {
      this.#tell(`what is left of the process ${process_id} cannot be read: it is taken away, and its id stays spent`, error as Error);
      this.spent.add(process_id).catch((error) => this.failed(error));
    }
    rmSync(dir, { recursive: true, force: true });
    return [];
  }
}

function unpromised(process_id: string, cause: unknown): GatewayError {
  const detail =
    `The start of ${quoted(process_id)} cannot be written to the data directory, so that a repeated one could run it twice: ` +
    'make room there, or start it with POST, which promises nothing of that kind.';
  return new GatewayError('resource_exhausted', detail, { process_id }, { cause });
}

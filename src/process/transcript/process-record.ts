import { readFileSync } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Exit, ExitReason, StartRequest, TtySize } from '../../protocol/index.js';
import { GATHER_MS, jsonRecord, readRecord, recordLength } from './record.js';

/** Beside the files of output, which have numbers for names. */
const NAME = 'process';

/** When writing is tried again after it failed, in milliseconds. */
const RETRY_MS = 1_000;

/** What is written before the program is started. */
export interface Begun {
  request: StartRequest;
  /** RFC 3339, as all instants. */
  created_at: string;
  cwd: string;
  tty: TtySize | null;
  /** In the environment of the program, and so of all that it starts. */
  mark: string;
  /** Names this run of the system: numbers of processes mean nothing in another. */
  boot_id: string;
}

/** Its place in the list, which no change of the clock moves. */
export interface Listed {
  index: number;
}

/** What is written when it runs. */
export interface Started extends Listed {
  started_at: string;
  pid: number;
  /** When the program with this pid was started, in ticks since the system was; null when it had ended by then. */
  start_ticks: number | null;
}

/** What is written when it has ended. */
export interface Exited {
  exited: Exit & { seq: number };
  exited_at: string;
  reason: ExitReason;
}

/** A size that a terminal had from an event on. */
export interface SizeChange extends TtySize {
  /** The first event that was drawn so. */
  seq: number;
  /** When it became so, in milliseconds since the start. */
  at_ms: number;
}

/** What is written when its output is over. */
export interface Closed {
  closed_seq: number;
  closed_at: string;
  total_bytes: number;
  accepted_bytes: number;
  tty: TtySize | null;
  /** The sizes that its terminal had, from which event on. Default: only one. */
  sizes?: SizeChange[];
  /** The first event that was lost with the program that held the process. Default: none was. */
  lost_seq?: number;
}

/** All that is known of a process. */
export type ProcessFacts = Begun & Partial<Started & Exited & Closed>;

/** Told of what becomes of writes. */
export interface RecordReport {
  failed(error: Error): void;
}

/** What is kept of one process besides its output: one file, to which it is appended what became of it. */
export class ProcessRecord {
  readonly #path: string;
  readonly #report: RecordReport;
  #waiting: Uint8Array[] = [];
  #size: number;
  #writing: Promise<void> = Promise.resolve();
  #gathering: NodeJS.Timeout | null = null;
  #retry: NodeJS.Timeout | null = null;
  #over = false;

  /** @param size how much of the file is good, in bytes. Default: there is none */
  constructor(dir: string, report: RecordReport, size = 0) {
    this.#path = join(dir, NAME);
    this.#report = report;
    this.#size = size;
  }

  /**
   * Writes the first facts; they are on the device when it resolves.
   * @throws what the system says
   */
  sync(facts: Begun): Promise<void> {
    this.#waiting.push(...jsonRecord(facts));
    this.#writing = this.#write(true);
    return this.#writing;
  }

  /** Writes the first facts, which is tried until it is done. Resolves when it is, or has failed once. */
  begin(facts: Begun): Promise<void> {
    this.#waiting.push(...jsonRecord(facts));
    this.#go();
    return this.#writing;
  }

  /** Writes what became of it, which is tried until it is done: the last at once, all else soon. */
  add(facts: Started | Listed | Exited | Closed): void {
    this.#waiting.push(...jsonRecord(facts));
    if ('closed_seq' in facts) this.#go();
    else this.#gathering ??= setTimeout(() => this.#go(), GATHER_MS).unref();
  }

  /** Resolves when nothing is being written any more, or will be. */
  async end(): Promise<void> {
    if (this.#gathering) this.#go();
    await this.#writing.catch(() => {});
    this.#over = true;
    if (this.#retry) clearTimeout(this.#retry);
    await this.#writing.catch(() => {});
  }

  #go(): void {
    if (this.#gathering) clearTimeout(this.#gathering);
    this.#gathering = null;
    if (this.#over || this.#retry) return;
    const retry = () => {
      this.#retry = null;
      this.#go();
    };
    this.#writing = this.#writing
      .catch(() => {})
      .then(() => this.#write(false))
      .catch((error) => {
        this.#report.failed(error);
        this.#retry ??= setTimeout(retry, RETRY_MS).unref();
      });
  }

  /** Where a write was torn off, the next one writes over it. */
  async #write(synced: boolean): Promise<void> {
    const count = this.#waiting.length;
    const bytes = Buffer.concat(this.#waiting);
    if (count === 0) return;
    if (this.#size === 0) await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    const file = await open(this.#path, this.#size === 0 ? 'w' : 'r+', 0o600);
    try {
      for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at, bytes.length - at, this.#size + at)).bytesWritten;
      if (synced) await this.#sync(file);
    } finally {
      await file.close();
    }
    this.#size += bytes.length;
    this.#waiting.splice(0, count);
  }

  /** With the directories that lead to it. */
  async #sync(file: FileHandle): Promise<void> {
    const dir = dirname(this.#path);
    await file.sync();
    for (const path of [dir, dirname(dir)]) {
      const directory = await open(path);
      await directory.sync().finally(() => directory.close());
    }
  }
}

/** What a file of an earlier program says. */
export interface LeftRecord {
  /** Null when its beginning cannot be read. */
  facts: ProcessFacts | null;
  /** How much of it is good, in bytes. */
  size: number;
  /** Whether it is not there, or its beginning was never written to the end: then no program was started. */
  unwritten: boolean;
}

/** @throws what the system says, but for a file that is not there */
export function leftRecord(dir: string): LeftRecord {
  const bytes = contentOf(join(dir, NAME));
  const facts = {};
  let size = 0;
  for (let found = readRecord(bytes, 0); found && 'json' in found.content; found = readRecord(bytes, size)) {
    Object.assign(facts, found.content.json);
    size = found.end;
  }
  return { facts: size > 0 ? (facts as ProcessFacts) : null, size, unwritten: (recordLength(bytes, 0) ?? bytes.length + 1) > bytes.length };
}

function contentOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}

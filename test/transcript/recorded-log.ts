import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventLog } from '../../src/process/event-log.js';
import { FollowCursor } from '../../src/process/follow-cursor.js';
import { readOutput } from '../../src/process/output-read.js';
import { Pacer } from '../../src/process/pacer.js';
import { type TranscriptLimits, TranscriptStore } from '../../src/process/transcript/transcript-store.js';
import type { TranscriptWriter } from '../../src/process/transcript/transcript-writer.js';
import type { FollowQuery, Gap, ProcessEvent, Stream } from '../../src/protocol/index.js';
import { until } from '../support/proc.js';

const MIB = 1024 * 1024;

/** What a reader was told. */
export interface ToldLog {
  events: ProcessEvent[];
  gaps: Gap[];
  bytes: Buffer;
}

/** A log without a process, with its transcript in a directory of its own. */
export class RecordedLog {
  readonly data_dir = mkdtempSync(join(tmpdir(), 'transcript-'));
  readonly store: TranscriptStore;
  readonly writer: TranscriptWriter;
  readonly log: EventLog;
  readonly pacer: Pacer;
  /** What was told of the disk. */
  readonly troubles: string[] = [];
  /** Whether the program stands still. */
  paused = false;

  constructor(retain_bytes: number, limits: Partial<TranscriptLimits> = {}) {
    const all = { transcript_bytes: 64 * MIB, transcript_total_bytes: 1024 * MIB, ...limits };
    this.store = TranscriptStore.open(this.data_dir, all, (what) => this.troubles.push(what));
    this.writer = this.store.writer('p');
    this.log = new EventLog(retain_bytes, this.writer.transcript);
    this.pacer = new Pacer(this.log, { pause: () => this.#pause(true), resume: () => this.#pause(false) });
    this.writer.begin(this.log, this.pacer);
    this.pacer.expectNobody();
  }

  get dir(): string {
    return join(this.data_dir, 'transcripts', 'p');
  }

  /** Prints as a program does that waits at its full pipe. */
  async print(chunks: Iterable<[Stream, Uint8Array]>): Promise<void> {
    for (const [stream, chunk] of chunks) {
      while (this.paused) await new Promise(setImmediate);
      this.log.append(stream, chunk);
      this.pacer.appended();
    }
  }

  /** All that was printed is on disk. */
  async flush(): Promise<void> {
    await until('all is written', () => this.writer.transcript.next_seq === this.log.next_seq);
  }

  async untilWrittenAgain(): Promise<void> {
    await until('the disk takes output again', () => this.troubles.length === 2, 60_000);
  }

  end(): void {
    this.log.appendExited({ exit_code: 0, signal: null });
    this.pacer.close();
    this.log.appendClosed();
  }

  async follow(query: FollowQuery = {}): Promise<ToldLog> {
    const events: ProcessEvent[] = [];
    for await (const batch of new FollowCursor(this.log, this.pacer, query)) events.push(...batch);
    return told(events);
  }

  /** Reads by long-poll to the end. */
  async read(max_bytes = MIB, stream?: Stream): Promise<ToldLog> {
    const { log } = this;
    const events: ProcessEvent[] = [];
    for (let after_seq = 0; after_seq !== log.closed_seq; ) {
      const until = performance.now() + 60_000;
      const { chunks, next_seq, gap } = await readOutput(log, {
        after_seq,
        until,
        max_bytes,
        stream,
        stopping: () => false,
        leave: undefined,
      });
      if (gap) events.push({ event: 'gap', ...gap });
      events.push(...chunks);
      after_seq = next_seq - 1;
    }
    return told(events);
  }

  async close(): Promise<void> {
    this.pacer.close();
    await this.store.close();
    rmSync(this.data_dir, { recursive: true, force: true });
  }

  #pause(paused: boolean): void {
    this.paused = paused;
  }
}

function told(events: ProcessEvent[]): ToldLog {
  const gaps = events.flatMap((event) => (event.event === 'gap' ? [event] : []));
  return { events, gaps, bytes: Buffer.concat(events.flatMap((event) => (event.event === 'output' ? [event.chunk] : []))) };
}

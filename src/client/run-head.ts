import { seqOf } from '../protocol/event-seq.js';
import type { ProcessEvent, Stream } from '../protocol/output.js';
import type { RunOutput } from '../protocol/run.js';
import { concat } from './concat.js';

/** The head of both streams of a run, gathered from its first answer and the events after it. */
export class RunHead {
  readonly process_id: string;
  readonly #parts: Record<'stdout' | 'stderr', Uint8Array[]>;
  #room: Record<'stdout' | 'stderr', number>;
  #truncated: boolean;
  #over = false;
  /** Whether the program has ended. */
  exited: boolean;
  /** The last event taken. */
  after_seq: number;

  /** @param max_bytes room for each stream, in bytes */
  constructor({ process_id, stdout, stderr, truncated, next_seq, exit_code }: RunOutput, max_bytes: number) {
    this.process_id = process_id;
    this.exited = exit_code !== null;
    this.#parts = { stdout: [stdout], stderr: [stderr] };
    this.#room = { stdout: max_bytes - stdout.length, stderr: max_bytes - stderr.length };
    this.#truncated = truncated;
    this.after_seq = next_seq - 1;
  }

  /** Whether nothing that may come is of use. */
  get done(): boolean {
    return this.#over || (this.#truncated && this.#room.stdout === 0 && this.#room.stderr === 0);
  }

  /** Nothing will come any more. */
  end(): void {
    this.#over = true;
  }

  /** The stream still of use once it is known that the other was cut. */
  get wanted(): 'stdout' | 'stderr' | undefined {
    if (!this.#truncated) return undefined;
    if (this.#room.stdout === 0) return 'stderr';
    return this.#room.stderr === 0 ? 'stdout' : undefined;
  }

  take(event: ProcessEvent): void {
    this.after_seq = seqOf(event);
    if (event.event === 'output') this.#takeChunk(event.stream, event.chunk);
    else if (event.event === 'gap') this.#skip();
    else if (event.event === 'exited') this.exited = true;
    else this.end();
  }

  output(): Pick<RunOutput, 'process_id' | 'stdout' | 'stderr' | 'truncated' | 'next_seq'> {
    const { stdout, stderr } = this.#parts;
    const { process_id, after_seq } = this;
    return { process_id, stdout: concat(stdout), stderr: concat(stderr), truncated: this.#truncated, next_seq: after_seq + 1 };
  }

  #takeChunk(stream: Stream, chunk: Uint8Array): void {
    const name = stream === 'stderr' ? 'stderr' : 'stdout';
    const part = chunk.subarray(0, this.#room[name]);
    this.#parts[name].push(part);
    this.#room[name] -= part.length;
    if (part.length < chunk.length) this.#truncated = true;
  }

  /**
   * Output was missed. The head ends here, so that there is no hole in it; when there is none yet, it begins after. Once
   * one stream was cut, it is that stream which overflows, and the other one goes on.
   */
  #skip(): void {
    const begun = Object.values(this.#parts).some((parts) => parts.some(({ length }) => length > 0));
    if (begun && this.wanted === undefined) this.#room = { stdout: 0, stderr: 0 };
    this.#truncated = true;
  }
}

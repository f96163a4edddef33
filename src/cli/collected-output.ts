import { DEFAULT_RUN_BYTES } from '../protocol/limits.js';
import type { ProcessEvent, Stream } from '../protocol/output.js';
import type { ProcessInfo } from '../protocol/process.js';
import type { Sink } from './foreground.js';

/** The beginning of what a process prints, for one line of JSON. */
export class CollectedOutput implements Sink {
  readonly #parts: Record<Stream, Uint8Array[]> = { stdout: [], stderr: [], pty: [] };
  readonly #bytes: Record<Stream, number> = { stdout: 0, stderr: 0, pty: 0 };
  /** Whether some is missing: beyond the first MiB of a stream, or no longer held. */
  truncated = false;

  async take(events: ProcessEvent[]): Promise<void> {
    for (const event of events) {
      if (event.event === 'gap') this.truncated = true;
      if (event.event !== 'output') continue;
      const part = event.chunk.subarray(0, DEFAULT_RUN_BYTES - this.#bytes[event.stream]);
      this.truncated ||= part.length < event.chunk.length;
      this.#parts[event.stream].push(part);
      this.#bytes[event.stream] += part.length;
    }
  }

  /** What a run gives as JSON; what is not UTF-8 is replaced. */
  result({ process_id, exit_code, signal, reason }: ProcessInfo) {
    const text = (stream: Stream) => Buffer.concat(this.#parts[stream]).toString('utf8');
    return { process_id, exit_code, signal, reason, truncated: this.truncated, stdout: text('stdout'), stderr: text('stderr') };
  }
}

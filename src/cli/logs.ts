import { persist, startRetry } from '../client/persist.js';
import { transcriptBytes } from '../client/transcript-bytes.js';
import { seqOf } from '../protocol/event-seq.js';
import type { ProcessEvent } from '../protocol/output.js';
import { beginCommand } from './begin-command.js';
import { OWN_FAILURE } from './call-failure.js';
import { sizeText } from './copy-tally.js';
import { LastLines } from './last-lines.js';
import { leave, leaveFailed } from './leave.js';
import type { LocalOutput } from './local-output.js';
import type { LogsOptions } from './process-options.js';

/**
 * Prints what a process has printed, and with `--follow` what it prints.
 * @throws {SettingError} for an address or token that cannot be used
 */
export async function logs(process_id: string, { follow, tail, cast, retryFor, ...connection }: LogsOptions): Promise<void> {
  const { output, notice, retry, processes } = beginCommand('logs', connection, retryFor);
  output.onBroken = () => void leave(output, 0);
  try {
    if (cast) {
      for await (const bytes of transcriptBytes(processes, process_id, { format: 'asciicast' }, {}, retry))
        await output.write('stdout', bytes);
      return await leave(output, 0);
    }
    const { next_seq } = await persist((signal) => processes.get(process_id, {}, { signal }), { retry: startRetry(retry) });
    notice.connected = true;
    const last_seq = next_seq - 1;
    if (last_seq === 0 && !follow) return await leave(output, 0);
    const log = new Log(output, last_seq, tail);
    for await (const batch of await processes.follow(process_id)) {
      for (const event of batch) if (follow || log.reaches(event)) await log.take(event);
      if (!follow && log.complete) break;
    }
    await leave(output, output.incomplete ? OWN_FAILURE : 0);
  } catch (error) {
    await leaveFailed(output, error);
  }
}

/** What was there in the beginning, whole or its last lines, and what came later. */
class Log {
  readonly #output: LocalOutput;
  readonly #last_seq: number;
  #lines: LastLines | null;
  #seq = 0;

  constructor(output: LocalOutput, last_seq: number, tail: number | undefined) {
    this.#output = output;
    this.#last_seq = last_seq;
    this.#lines = tail === undefined || last_seq === 0 ? null : new LastLines(tail);
  }

  /** Whether all that was there has been told. */
  get complete(): boolean {
    return this.#seq >= this.#last_seq;
  }

  /** Whether an event was there in the beginning, or stands for some that were. */
  reaches(event: ProcessEvent): boolean {
    return (event.event === 'gap' ? event.from_seq : event.seq) <= this.#last_seq;
  }

  async take(event: ProcessEvent): Promise<void> {
    this.#seq = seqOf(event);
    if (this.#lines && this.reaches(event)) this.#lines.take(event);
    else await this.#print(event);
    if (!this.#lines || !this.complete) return;
    await this.#output.take(this.#lines.events());
    this.#lines = null;
  }

  async #print(event: ProcessEvent): Promise<void> {
    if (event.event !== 'gap' || event.from_seq > 1) return this.#output.take([event]);
    this.#output.say(`the first ${event.bytes === null ? 'of it' : sizeText(event.bytes)} is no longer held`);
  }
}

import { type ExecProcess, GatewayError } from '../protocol/index.js';
import { RPC, RpcError } from './rpc-error.js';

/** Written at a time, in bytes: each piece may wait for the process by itself. */
const PIECE_BYTES = 256 * 1024;

/** How long the process may read nothing before a write fails, in milliseconds. */
const READ_PATIENCE_MS = 60_000;

/** Ids of writes that are known again. */
const KNOWN_IDS = 4096;

/** Writes, and their bytes, that may wait for a process to read. */
const MOST_WAITING = 128;
const MOST_WAITING_BYTES = 64 * 1024 * 1024;

/** What a process reads from: a terminal takes writes also when its program is gone. */
export type Input = 'none' | 'pipe' | 'tty';

/** The answer to `process/write`. */
export type WriteStatus = 'accepted' | 'stdinClosed' | 'unknownProcess';

/** What is written to one process: in order, and each id once. */
export class StdinWrites {
  readonly #processes: ExecProcess;
  readonly #process_id: string;
  readonly #input: Input;
  readonly #known = new Map<string, Promise<WriteStatus>>();
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #waiting_bytes = 0;

  constructor(processes: ExecProcess, process_id: string, input: Input) {
    this.#input = input;
    this.#processes = processes;
    this.#process_id = process_id;
  }

  /**
   * Writes after all that was asked for before. A repeated id gets the answer of the first, so that a client which lost its connection may ask again.
   * @param started settled when the process runs
   * @throws {RpcError} when the process does not read, or has ended
   */
  write(bytes: Buffer, id: string, started: Promise<void>): Promise<WriteStatus> {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    if (this.#waiting >= MOST_WAITING || this.#waiting_bytes + bytes.length > MOST_WAITING_BYTES) {
      return Promise.reject(new RpcError(RPC.INTERNAL, 'failed to write to process stdin: too much waits for the process to read'));
    }
    this.#waiting++;
    this.#waiting_bytes += bytes.length;
    const before = this.#last;
    const written = (async () => {
      await before.catch(() => {});
      return await this.#write(bytes, started);
    })().finally(() => {
      this.#waiting--;
      this.#waiting_bytes -= bytes.length;
    });
    this.#last = written.catch(() => {});
    this.#remember(id, written);
    return written;
  }

  #remember(id: string, written: Promise<WriteStatus>): void {
    this.#known.set(id, written);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= KNOWN_IDS) break;
      this.#known.delete(oldest);
    }
  }

  async #write(bytes: Buffer, started: Promise<void>): Promise<WriteStatus> {
    try {
      await started;
    } catch {
      return 'unknownProcess';
    }
    if (this.#input === 'none') return 'stdinClosed';
    try {
      for (let at = 0; at === 0 || at < bytes.length; at += PIECE_BYTES) {
        await this.#processes.write(this.#process_id, bytes.subarray(at, at + PIECE_BYTES), { wait_ms: READ_PATIENCE_MS });
      }
      return 'accepted';
    } catch (error) {
      return this.#failed(error);
    }
  }

  #failed(error: unknown): WriteStatus {
    if (!(error instanceof GatewayError)) throw error;
    if (error.code === 'process_not_found') return 'unknownProcess';
    if (error.code === 'process_exited' && this.#input === 'tty') return 'accepted';
    if (error.code === 'stdin_closed') return 'stdinClosed';
    throw new RpcError(RPC.INTERNAL, `failed to write to process stdin: ${error.message}`);
  }
}

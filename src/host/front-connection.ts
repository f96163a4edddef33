import { connect, type Socket } from 'node:net';
import { GatewayError } from '../protocol/error.js';
import { SandboxRefusal } from '../protocol/sandbox.js';
import { type Frame, FrameReader, frameHead, KIND, type Kind, type Place } from './frame.js';
import { FrontStream } from './front-stream.js';
import { unpacked } from './packed.js';
import type { Greeting, OtherFailure, Welcome } from './words.js';

/** What is read of the socket at once, in bytes: as much as one holds by default (Linux). */
const READ_BYTES = 208 * 1024;

/** All connections are read into this one: frames have memory of their own. */
const buffer = Buffer.allocUnsafeSlow(READ_BYTES);

/** A call to the host: its name, whom it is about, and what it asks. */
export interface HostCall {
  call: string;
  process_id?: string;
  query?: object | undefined;
  /** Sent after it, as they are. */
  bytes?: Uint8Array;
  /** Of a stream: whether the bytes of a batch are good only until the next one is asked for. */
  lend?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/** What waits for frames of one number. */
interface Waiting {
  answer(frame: Frame): void;
  fail(error: unknown): void;
  stream: FrontStream<unknown> | null;
}

/** A connection to a host, as seen by whoever asks it. Calls that are under way when it breaks fail with `upstream_unreachable`. */
export class FrontConnection {
  readonly #socket: Socket;
  readonly #waiting = new Map<number, Waiting>();
  #last_id = 0;
  #broken = false;
  /** What the host has told of itself. */
  welcome!: Welcome;
  /** Whether the host said that it ends for good. */
  farewell = false;
  /** Resolves when the connection is over. */
  readonly closed: Promise<void>;

  private constructor(path: string) {
    const place: Place = (id, size) => this.#waiting.get(id)?.stream?.memory(size) ?? null;
    const reader = new FrameReader((frame) => this.#take(frame), place);
    this.#socket = connect({
      path,
      onread: {
        buffer,
        callback: (length) => {
          try {
            reader.push(buffer.subarray(0, length));
          } catch (error) {
            this.#socket.destroy(error as Error);
          }
          return true;
        },
      },
    });
    this.#socket.on('error', () => {});
    this.closed = new Promise((resolve) => {
      this.#socket.once('close', () => {
        this.#break();
        resolve();
      });
    });
  }

  /**
   * Connects and greets.
   * @param signal gives it up
   * @throws {GatewayError} `upstream_unreachable` when nothing answers there
   */
  static async open(path: string, greeting: Greeting, signal: AbortSignal): Promise<FrontConnection> {
    const connection = new FrontConnection(path);
    try {
      connection.welcome = await connection.call<Welcome>({ call: 'greet', query: greeting, signal });
      return connection;
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  close(): void {
    this.#socket.destroy();
  }

  /** Makes a call; resolves with its answer. */
  call<Answer>(call: HostCall): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const answer = ({ json, bytes }: Frame) => resolve(unpacked(json, bytes) as Answer);
      this.#send(call, answer, reject, null);
    });
  }

  /** Begins a stream; resolves with what the host tells at its beginning. */
  stream<Head, Event>(call: HostCall): Promise<{ head: Head; batches: FrontStream<Event> }> {
    return new Promise((resolve, reject) => {
      let batches: FrontStream<Event>;
      const answer = ({ json, bytes, id }: Frame) => {
        batches = new FrontStream<Event>({ room: (size) => this.#write(KIND.room, id, size), cancel: () => this.#cancel(id) }, call);
        const waiting = this.#waiting.get(id);
        if (waiting) waiting.stream = batches;
        resolve({ head: unpacked(json, bytes) as Head, batches });
      };
      this.#send(call, answer, reject, true);
    });
  }

  #send({ signal, bytes, lend: _, ...fields }: HostCall, answer: Waiting['answer'], reject: Waiting['fail'], stream: true | null): void {
    if (signal?.aborted || this.#broken) {
      reject(signal?.aborted ? signal.reason : gone());
      return;
    }
    const id = this.#nextId();
    const abort = () => {
      this.#cancel(id);
      reject(signal?.reason);
    };
    const forget = () => signal?.removeEventListener('abort', abort);
    signal?.addEventListener('abort', abort, { once: true });
    this.#waiting.set(id, {
      answer: (frame) => {
        forget();
        if (!stream) this.#waiting.delete(id);
        answer(frame);
      },
      fail: (error) => {
        forget();
        this.#waiting.delete(id);
        reject(error);
      },
      stream: null,
    });
    this.#write(KIND.call, id, fields, bytes);
  }

  #nextId(): number {
    do this.#last_id = (this.#last_id + 1) >>> 0;
    while (this.#waiting.has(this.#last_id));
    return this.#last_id;
  }

  #cancel(id: number): void {
    if (this.#waiting.delete(id) && !this.#broken) this.#write(KIND.cancel, id, null);
  }

  #write(kind: Kind, id: number, value: unknown, bytes?: Uint8Array): void {
    if (this.#broken) return;
    const head = frameHead(kind, id, JSON.stringify(value), bytes?.length ?? 0);
    this.#socket.write(bytes === undefined || bytes.length === 0 ? head : Buffer.concat([head, bytes]));
  }

  #take(frame: Frame): void {
    if (frame.kind === KIND.farewell) this.farewell = true;
    const waiting = this.#waiting.get(frame.id);
    if (!waiting) return;
    if (frame.kind === KIND.answer) waiting.answer(frame);
    else if (frame.kind === KIND.part) waiting.stream?.push(frame);
    else this.#over(frame, waiting);
  }

  /** A failure, or the end of a stream. */
  #over({ kind, id, json }: Frame, { stream, fail }: Waiting): void {
    this.#waiting.delete(id);
    const error = kind === KIND.failure ? revived(json) : null;
    if (stream) stream.over(error);
    else fail(error);
  }

  #break(): void {
    this.#broken = true;
    const all = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { stream, fail } of all) {
      if (stream) stream.over(gone());
      else fail(gone());
    }
  }
}

/** What a call fails with that the host did not answer. */
export function gone(): GatewayError {
  return new GatewayError('upstream_unreachable', 'The host of the processes ended before it answered: try again, another one is started.');
}

function revived(json: string): unknown {
  const problem = JSON.parse(json) as object | OtherFailure;
  if ('refusal' in problem) return new SandboxRefusal(problem.refusal);
  return GatewayError.fromProblem(problem) ?? new GatewayError('internal', 'The process host failed in a way that is not known here.');
}

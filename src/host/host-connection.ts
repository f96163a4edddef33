import type { Socket } from 'node:net';
import { GatewayError } from '../protocol/error.js';
import { SandboxRefusal } from '../protocol/sandbox.js';
import { CALLS, type CallFields, type HostedMachine, STREAMS } from './calls.js';
import { type Frame, FrameReader, frameHead, KIND, type Kind } from './frame.js';
import { HostStream } from './host-stream.js';
import { packed } from './packed.js';
import { type DrainRequest, type Greeting, HOST_PROTOCOL, type HostStatus, type Welcome } from './words.js';

/** What a connection asks of the host around it. */
export interface HostCallbacks {
  readonly welcome: Welcome;
  greeted(greeting: Greeting): void;
  status(): Promise<HostStatus>;
  /** Resolves with how many processes were ended. */
  drain(request: DrainRequest): Promise<number>;
  log(error: unknown): void;
}

interface CallJson extends CallFields {
  call: string;
}

/** One connection to a host, as seen by the host. What it asked for is given up when it ends. */
export class HostConnection {
  readonly #socket: Socket;
  readonly #machine: HostedMachine;
  readonly #host: HostCallbacks;
  readonly #calls = new Map<number, AbortController>();
  readonly #streams = new Map<number, HostStream>();
  #greeting: Greeting | null = null;

  constructor(socket: Socket, machine: HostedMachine, host: HostCallbacks) {
    this.#socket = socket;
    this.#machine = machine;
    this.#host = host;
    const reader = new FrameReader((frame) => this.#take(frame));
    socket.on('data', (bytes) => {
      try {
        reader.push(bytes);
      } catch (error) {
        host.log(error);
        socket.destroy();
      }
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      for (const controller of this.#calls.values()) controller.abort();
    });
  }

  /** The front that it serves; null before the greeting, and where it is none. */
  get front(): Greeting | null {
    return this.#greeting?.settings ? this.#greeting : null;
  }

  /** Says that the host ends for good. */
  farewell(): void {
    this.#send(KIND.farewell, 0, packed(null));
  }

  #take({ kind, id, json, bytes }: Frame): void {
    if (kind === KIND.call) void this.#call(id, JSON.parse(json) as CallJson, bytes);
    else if (kind === KIND.cancel) this.#calls.get(id)?.abort();
    else if (kind === KIND.room) this.#streams.get(id)?.room(JSON.parse(json) as number);
  }

  async #call(id: number, fields: CallJson, bytes: Buffer): Promise<void> {
    const controller = new AbortController();
    this.#calls.set(id, controller);
    try {
      const streaming = STREAMS[fields.call];
      if (streaming) await this.#stream(id, await streaming(this.#served(), fields, controller.signal), controller.signal);
      else this.#send(KIND.answer, id, packed(await this.#answer(fields, controller.signal, bytes)));
    } catch (error) {
      if (!controller.signal.aborted) this.#send(KIND.failure, id, { json: JSON.stringify(this.#failure(error)), bytes: [] });
    } finally {
      this.#calls.delete(id);
    }
  }

  #answer(fields: CallJson, signal: AbortSignal, bytes: Buffer): Promise<unknown> | unknown {
    const { call, query } = fields;
    if (call === 'greet') return this.#greet(query as Greeting);
    if (call === 'status') return this.#host.status();
    if (call === 'drain') return this.#host.drain(query as DrainRequest).then((ended) => ({ ended }));
    const answering = CALLS[call];
    if (!answering) throw new GatewayError('internal', `The process host knows no call ${call}.`);
    return answering(this.#served(), fields, { signal }, bytes);
  }

  /** @throws {GatewayError} before a greeting in the same protocol */
  #served(): HostedMachine {
    if (this.#greeting?.protocol === HOST_PROTOCOL) return this.#machine;
    throw new GatewayError('internal', `The process host speaks version ${HOST_PROTOCOL} of its protocol, and was greeted in another.`);
  }

  #greet(greeting: Greeting): object {
    this.#greeting = greeting;
    this.#host.greeted(greeting);
    return this.#host.welcome;
  }

  async #stream(id: number, { head, batches }: { head: object; batches: AsyncIterable<unknown[]> }, signal: AbortSignal): Promise<void> {
    const stream = new HostStream(this.#socket, id);
    this.#streams.set(id, stream);
    this.#send(KIND.answer, id, packed(head));
    try {
      await stream.pump(batches, signal);
      this.#send(KIND.end, id, packed(null));
    } finally {
      this.#streams.delete(id);
    }
  }

  #failure(error: unknown): object {
    if (error instanceof GatewayError) return error.toProblem();
    if (error instanceof SandboxRefusal) return { refusal: error.message };
    this.#host.log(error);
    return new GatewayError('internal', 'The process host failed; host.log in the data directory has the reason.').toProblem();
  }

  #send(kind: Kind, id: number, { json, bytes }: { json: string; bytes: Uint8Array[] }): void {
    const socket = this.#socket;
    if (socket.destroyed) return;
    const size = bytes.reduce((sum, part) => sum + part.length, 0);
    const head = frameHead(kind, id, json, size);
    socket.write(size === 0 ? head : Buffer.concat([head, ...bytes]));
  }
}

import type { AttachEvent, AttachHello } from '../protocol/attach.js';
import { ATTACH_HEAD_BYTES, attachNumber } from '../protocol/attach-frame.js';
import { GatewayError } from '../protocol/error.js';
import type { ProcessEvent, Stream } from '../protocol/output.js';
import { isOpen, listen, type SocketEnd, type SocketLike } from './attach-socket.js';

/** Whom one connection tells what it carries. */
export interface ConnectionEvents {
  hello(hello: AttachHello): void;
  event(event: ProcessEvent): void;
  accepted(accepted_bytes: number): void;
  error(error: Extract<AttachEvent, { type: 'error' }>): void;
  /** Called once, at last. The error is what the end was told with, if it was. */
  ended(end: SocketEnd, error: GatewayError | null): void;
}

/** One WebSocket that speaks `exec-gateway.v1`, from the gateway's first word to its last. */
export class AttachConnection {
  readonly #socket: SocketLike;
  readonly #events: ConnectionEvents;
  readonly #forget: () => void;
  #stream: Stream = 'stdout';
  #greeted = false;
  #over = false;
  readonly opened_at = performance.now();
  /** Ends one on which the gateway says nothing. */
  readonly #overdue: ReturnType<typeof setTimeout>;

  /** @param patience_ms how long the gateway's first word may take, in milliseconds */
  constructor(socket: SocketLike, patience_ms: number, events: ConnectionEvents) {
    this.#socket = socket;
    this.#events = events;
    this.#overdue = setTimeout(() => this.#giveUp(`The gateway did not answer within ${patience_ms} ms.`), patience_ms);
    this.#forget = listen(socket, {
      text: (message) => this.#take(() => this.#text(JSON.parse(message))),
      bytes: (message) => this.#take(() => this.#bytes(message)),
      ended: (end) => this.#end(end),
    });
  }

  /** False when nothing can be sent (yet, or any more). */
  send(message: string | Uint8Array<ArrayBuffer>): boolean {
    if (!this.#greeted || !isOpen(this.#socket)) return false;
    this.#socket.send(message);
    return true;
  }

  /** Stops reading, where that can be: in browsers it cannot. */
  pause(): boolean {
    this.#socket.pause?.();
    return this.#socket.pause !== undefined;
  }

  resume(): void {
    this.#socket.resume?.();
  }

  /** Lets go of the connection at once: whatever still comes is not told. */
  drop(): void {
    this.#stop();
    try {
      this.#socket.close();
    } catch {
      // It may not be open yet.
    }
  }

  #text(message: AttachEvent): void {
    switch (message.type) {
      case 'hello':
        this.#stream = message.process.tty === null ? 'stdout' : 'pty';
        this.#greeted = true;
        clearTimeout(this.#overdue);
        this.#events.hello(message);
        break;
      case 'stream':
        this.#stream = message.stream;
        break;
      case 'accepted':
        this.#events.accepted(message.accepted_bytes);
        break;
      case 'error':
        this.#events.error(message);
        break;
      case 'exited':
      case 'closed':
      case 'gap': {
        const { type: event, ...data } = message;
        this.#events.event({ event, ...data } as ProcessEvent);
      }
    }
  }

  #bytes(message: Uint8Array): void {
    const seq = attachNumber(message);
    if (seq === null || !this.#greeted) throw new Error('a message without a number');
    this.#events.event({ event: 'output', seq, stream: this.#stream, chunk: message.subarray(ATTACH_HEAD_BYTES) });
  }

  /** What no gateway sends ends the connection. */
  #take(message: () => void): void {
    if (this.#over) return;
    try {
      message();
    } catch (cause) {
      if (cause instanceof GatewayError) throw cause;
      this.#giveUp(`What came on the WebSocket is not what a gateway sends: ${(cause as Error).message}.`, cause);
    }
  }

  #giveUp(detail: string, cause?: unknown): void {
    this.drop();
    this.#events.ended({ code: 1002, reason: '' }, new GatewayError('upstream_unreachable', detail, {}, { cause }));
  }

  #end(end: SocketEnd): void {
    if (this.#over) return;
    this.#stop();
    this.#events.ended(end, null);
  }

  #stop(): void {
    this.#over = true;
    clearTimeout(this.#overdue);
    this.#forget();
  }
}

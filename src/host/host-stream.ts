import type { Socket } from 'node:net';
import { frameHead, KIND } from './frame.js';
import { packed } from './packed.js';

/** Bytes of a stream that were sent and not asked on from, above which it waits. One batch may go beyond. */
const HOST_WINDOW_BYTES = 64 * 1024;

/** What an event counts as besides its payload, in bytes: many small ones are work too. */
const EVENT_BYTES = 64;

/** What a batch counts as, at both ends, in bytes. */
export const weight = (events: number, bytes: number): number => events * EVENT_BYTES + bytes;

/**
 * One stream from the host to its front. A batch is taken when the front has room for it and the last one has left: a reader that is
 * slow holds a batch or two, and holds up nobody else.
 */
export class HostStream {
  readonly #socket: Socket;
  readonly #id: number;
  #out_bytes = 0;
  #wake: (() => void) | null = null;

  constructor(socket: Socket, id: number) {
    this.#socket = socket;
    this.#id = id;
  }

  /** The front has taken so much. */
  room(bytes: number): void {
    this.#out_bytes -= bytes;
    this.#wake?.();
  }

  /** Sends batches until they end or the signal is aborted. */
  async pump(batches: AsyncIterable<unknown[]>, signal: AbortSignal): Promise<void> {
    const wake = () => this.#wake?.();
    signal.addEventListener('abort', wake, { once: true });
    for await (const batch of batches) {
      await this.#send(batch);
      while (this.#out_bytes >= HOST_WINDOW_BYTES && !signal.aborted) await new Promise<void>((resolve) => (this.#wake = resolve));
      if (signal.aborted) break;
    }
  }

  /** Resolves when the system has all of it: then its bytes, which are lent, may be used again. */
  #send(batch: unknown[]): Promise<void> {
    const { json, bytes } = packed(batch);
    const size = bytes.reduce((sum, part) => sum + part.length, 0);
    this.#out_bytes += weight(batch.length, size);
    return new Promise((resolve) => {
      const socket = this.#socket;
      if (socket.destroyed) return resolve();
      const done = () => resolve();
      socket.cork();
      socket.write(frameHead(KIND.part, this.#id, json, size), bytes.length === 0 ? done : undefined);
      bytes.forEach((part, i) => {
        socket.write(part, i === bytes.length - 1 ? done : undefined);
      });
      socket.uncork();
    });
  }
}

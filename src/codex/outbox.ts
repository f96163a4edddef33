import type { WebSocket } from 'ws';
import { toBase64Text } from './base64-text.js';

/** Largest frame, in bytes. Clients refuse one of 16 MiB; small ones keep what is copied at a time small. */
const FRAME_BYTES = 4 * 1024 * 1024;

/** What waits to be sent before whoever produces more has to wait, in bytes, and when it may go on. */
const HIGH_BYTES = 512 * 1024;
const LOW_BYTES = 128 * 1024;

/** What a connection is told, in order. A long message goes in several frames; one that is read from a file while it is sent holds back the others. */
export class Outbox {
  readonly #socket: WebSocket;
  #streaming = false;
  #held: Buffer[] = [];
  #held_bytes = 0;
  #waiting: (() => void)[] = [];
  #open = true;
  /** Bytes that have left. */
  taken_bytes = 0;

  constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  /** Bytes that wait. */
  get waiting_bytes(): number {
    return this.#socket.bufferedAmount + this.#held_bytes;
  }

  /** Whether what is sent goes anywhere: not on a connection that is about to end. */
  get #takes(): boolean {
    return this.#open && this.#socket.readyState === this.#socket.OPEN;
  }

  /** Sends a message, or keeps it until the one that is under way is through. */
  send(message: object): void {
    this.#put(Buffer.from(JSON.stringify(message), 'utf8'));
  }

  /** Resolves when there is room for more, or the connection is gone. */
  async room(): Promise<void> {
    while (this.#open && (this.#streaming || this.waiting_bytes > HIGH_BYTES)) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /**
   * Sends one message that ends in the base64 of a content, read as there is room.
   * @param head the message up to the base64
   * @param tail what follows it
   */
  async stream(head: string, content: AsyncIterable<Uint8Array>, tail: string): Promise<void> {
    while (this.#streaming && this.#open) await this.room();
    if (!this.#open) return;
    this.#streaming = true;
    try {
      await this.#frame(Buffer.from(head, 'utf8'), false);
      for await (const text of toBase64Text(content)) {
        if (!this.#takes) return;
        await this.#frame(Buffer.from(text, 'latin1'), false);
      }
      await this.#frame(Buffer.from(tail, 'utf8'), true);
    } finally {
      this.#streaming = false;
      this.#release();
    }
  }

  /** To be called when the connection is gone. */
  close(): void {
    this.#open = false;
    this.#held = [];
    this.#held_bytes = 0;
    this.#wake();
  }

  #put(bytes: Buffer): void {
    if (!this.#takes) return;
    if (this.#streaming) {
      this.#held.push(bytes);
      this.#held_bytes += bytes.length;
      return;
    }
    for (let at = 0; at < bytes.length; at += FRAME_BYTES) {
      const piece = bytes.subarray(at, at + FRAME_BYTES);
      this.#socket.send(piece, { binary: false, fin: at + FRAME_BYTES >= bytes.length }, () => this.#sent(piece.length));
    }
  }

  /** Resolves when the frame has left, so that a content is read no faster than it is taken. */
  #frame(bytes: Buffer, fin: boolean): Promise<void> {
    return new Promise((resolve) => {
      if (this.#takes)
        this.#socket.send(bytes, { binary: false, fin }, () => {
          this.#sent(bytes.length);
          resolve();
        });
      else resolve();
    });
  }

  #release(): void {
    const held = this.#held;
    this.#held = [];
    this.#held_bytes = 0;
    for (const bytes of held) this.#put(bytes);
    this.#wake();
  }

  #sent(bytes: number): void {
    this.taken_bytes += bytes;
    if (this.waiting_bytes <= LOW_BYTES) this.#wake();
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

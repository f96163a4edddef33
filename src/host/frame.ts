/**
 * What a frame is about. From the front: a call, its end before its time, and room for more of a stream. From the host: the answer,
 * a failure, a part of a stream, its end, and the word that the host ends for good.
 */
export const KIND = { call: 1, cancel: 2, room: 3, answer: 4, failure: 5, part: 6, end: 7, farewell: 8 } as const;
export type Kind = (typeof KIND)[keyof typeof KIND];

/** Bytes ahead of a frame: the size of what follows, the number of the call, the kind, the size of the JSON; each 32 bits, little-endian. */
const HEAD_BYTES = 16;

/** Largest frame, in bytes: sixteen times what a call may carry. More is none of ours. */
const MAX_FRAME_BYTES = 1024 * 1024 * 1024;

/** One message between a front and its host: JSON, and bytes as they are. */
export interface Frame {
  kind: Kind;
  id: number;
  json: string;
  bytes: Buffer;
}

/** Memory of so many bytes that nothing else uses, for the JSON and the bytes of a frame of that number; null for fresh one. */
export type Place = (id: number, size: number) => Buffer | null;

/** The head and the JSON of a frame, which so many bytes follow. */
export function frameHead(kind: Kind, id: number, json: string, bytes: number): Buffer {
  const size = Buffer.byteLength(json);
  const head = Buffer.allocUnsafe(HEAD_BYTES + size);
  head.writeUInt32LE(size + bytes, 0);
  head.writeUInt32LE(id, 4);
  head.writeUInt32LE(kind, 8);
  head.writeUInt32LE(size, 12);
  head.write(json, HEAD_BYTES);
  return head;
}

/** Makes frames of what comes over a connection; keeps none of the memory that it is given. */
export class FrameReader {
  readonly #take: (frame: Frame) => void;
  readonly #place: Place;
  readonly #head = Buffer.alloc(HEAD_BYTES);
  #head_filled = 0;
  #body: Buffer | null = null;
  #body_filled = 0;

  /** @param take is handed each frame when it is whole */
  constructor(take: (frame: Frame) => void, place: Place = () => null) {
    this.#take = take;
    this.#place = place;
  }

  /** @throws {Error} for what cannot be a frame */
  push(bytes: Uint8Array): void {
    let at = 0;
    while (at < bytes.length) {
      at += this.#body === null ? this.#fillHead(bytes, at) : this.#fillBody(this.#body, bytes, at);
      if (this.#body !== null && this.#body_filled === this.#body.length) this.#whole(this.#body);
    }
  }

  #fillHead(bytes: Uint8Array, at: number): number {
    const part = bytes.subarray(at, at + HEAD_BYTES - this.#head_filled);
    this.#head.set(part, this.#head_filled);
    this.#head_filled += part.length;
    if (this.#head_filled === HEAD_BYTES) {
      const size = this.#head.readUInt32LE(0);
      if (size > MAX_FRAME_BYTES || this.#head.readUInt32LE(12) > size) throw new Error(`a frame of ${size} bytes`);
      this.#body = this.#place(this.#id, size) ?? Buffer.allocUnsafe(size);
    }
    return part.length;
  }

  get #id(): number {
    return this.#head.readUInt32LE(4);
  }

  #fillBody(body: Buffer, bytes: Uint8Array, at: number): number {
    const part = bytes.subarray(at, at + body.length - this.#body_filled);
    body.set(part, this.#body_filled);
    this.#body_filled += part.length;
    return part.length;
  }

  #whole(body: Buffer): void {
    this.#body = null;
    this.#body_filled = 0;
    this.#head_filled = 0;
    const json = this.#head.readUInt32LE(12);
    const kind = this.#head.readUInt32LE(8) as Kind;
    this.#take({ kind, id: this.#id, json: body.toString('utf8', 0, json), bytes: body.subarray(json) });
  }
}

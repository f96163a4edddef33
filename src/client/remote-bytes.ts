import { GatewayError } from '../protocol/error.js';
import type { WireStream } from './wire.js';

/** The part of a content that was asked for. */
export interface Part {
  offset: number;
  /** Bytes at most; null to the end. */
  length: number | null;
}

/** Content behind a gateway. An answer that ends early fails; one that begins too early, as a cache's may, is cut to size. */
export class RemoteBytes {
  readonly length: number | null;
  readonly #stream: WireStream;
  /** Bytes of the answer that come before the part. */
  readonly #skip: number;

  constructor(stream: WireStream, { offset, length }: Part) {
    this.#stream = stream;
    this.#skip = stream.status === 206 ? 0 : offset;
    const told = stream.headers.get('content-length');
    const rest = told === null ? null : Math.max(0, Number(told) - this.#skip);
    this.length = rest === null || length === null ? rest : Math.min(rest, length);
    this.#most = this.length ?? length ?? Number.POSITIVE_INFINITY;
  }

  readonly #most: number;

  get body(): AsyncIterable<Uint8Array> {
    return this.#read();
  }

  async close(): Promise<void> {
    this.#stream.close();
  }

  async *#read(): AsyncGenerator<Uint8Array, void> {
    let at = -this.#skip;
    try {
      while (at < this.#most) {
        const bytes = await this.#stream.read();
        if (bytes === null) break;
        const part = bytes.subarray(Math.max(0, -at), Math.min(bytes.length, this.#most - at));
        at += bytes.length;
        if (part.length > 0) yield part;
      }
      if (this.length !== null && at < this.length) throw cut(`after ${Math.max(0, at)} of ${this.length} bytes`);
    } finally {
      this.#stream.close();
    }
  }
}

function cut(where: string): GatewayError {
  return new GatewayError('upstream_unreachable', `The answer of the gateway ended ${where}.`);
}

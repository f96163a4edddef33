import { GatewayError } from '../protocol/error.js';
import type { FileMetadata } from '../protocol/file.js';
import type { FileContent } from '../protocol/file-system.js';
import type { WireStream } from './wire.js';

/** The part of a file that was asked for. */
interface Part {
  offset: number;
  /** Bytes at most; null to the end. */
  length: number | null;
}

/** The content of a file behind a gateway. An answer that ends early fails; one that begins too early, as a cache's may, is cut to size. */
export class RemoteContent implements FileContent {
  readonly metadata: FileMetadata;
  readonly length: number | null;
  readonly #stream: WireStream;
  /** Bytes of the answer that come before the part. */
  readonly #skip: number;

  /** @throws {GatewayError} `upstream_unreachable` for an answer that no gateway gives */
  constructor(stream: WireStream, { offset, length }: Part) {
    this.#stream = stream;
    this.metadata = metadataOf(stream);
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

function metadataOf({ headers, close }: WireStream): FileMetadata {
  try {
    return JSON.parse(headers.get('exec-metadata') as string) as FileMetadata;
  } catch (cause) {
    close();
    const detail = 'The answer has no Exec-Metadata header: something on the way dropped it, or it is not from a gateway.';
    throw new GatewayError('upstream_unreachable', detail, {}, { cause });
  }
}

function cut(where: string): GatewayError {
  return new GatewayError('upstream_unreachable', `The file of the gateway ended ${where}.`);
}

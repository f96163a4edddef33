import { GatewayError } from '../protocol/error.js';

/** What is written to stdin: text, which goes as UTF-8, or bytes. */
export type Input = string | ArrayBuffer | ArrayBufferView;

/**
 * The bytes of what is to be written.
 * @throws {GatewayError} `invalid_argument` for what is neither text nor bytes
 */
export function bytesOf(input: Input): Uint8Array {
  if (typeof input === 'string') return new TextEncoder().encode(input);
  if (input instanceof Uint8Array) return input;
  if (ArrayBuffer.isView(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
  // By its name, since that of another page or context is of another class.
  if (Object.prototype.toString.call(input) === '[object ArrayBuffer]') return new Uint8Array(input);
  const detail = `input must be text or bytes (a string, an ArrayBuffer or a view of one), not ${input === null ? 'null' : typeof input}.`;
  throw new GatewayError('invalid_argument', detail, { field: 'input' });
}

import { GatewayError } from './error.js';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const CODES = new Int8Array(128).fill(-1);
for (let i = 0; i < 64; i++) CODES[ALPHABET.charCodeAt(i)] = i;

/** Characters turned into one string at a time: far below any engine's argument limit. */
const SLICE = 0x2000;

/** Encodes bytes as standard base64 with padding (RFC 4648 §4). */
export function encodeBase64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += SLICE * 3) {
    let binary = '';
    for (let i = at; i < Math.min(at + SLICE * 3, bytes.length); i += SLICE) {
      binary += String.fromCharCode(...bytes.subarray(i, Math.min(i + SLICE, at + SLICE * 3)));
    }
    text += btoa(binary);
  }
  return text;
}

/** Bytes that a text of padded base64 stands for, when it is one: a fraction says that it is none. */
export function decodedLength(text: string): number {
  return (text.length / 4) * 3 - paddingOf(text);
}

function paddingOf(text: string): number {
  return text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
}

/**
 * Decodes standard base64 (RFC 4648 §4), strictly: padding is required, no other alphabet, no white space,
 * no stray bits. Unlike lenient decoders it never drops a character silently.
 * @param field the name of the value, for the message
 * @throws {GatewayError} `invalid_argument`
 */
export function decodeBase64(text: string, field = 'chunk'): Uint8Array<ArrayBuffer> {
  const padding = paddingOf(text);
  const digits = text.length - padding;
  if (text.length % 4 !== 0) throw invalid(field, `its length ${text.length} is not a multiple of 4`);
  const bytes = new Uint8Array(decodedLength(text));
  let out = 0;
  let at = 0;
  for (; at + 4 <= digits; at += 4) {
    const quad = (digit(text, at) << 18) | (digit(text, at + 1) << 12) | (digit(text, at + 2) << 6) | digit(text, at + 3);
    if (quad < 0) break; // one of them is none
    bytes[out++] = quad >> 16;
    bytes[out++] = quad >> 8;
    bytes[out++] = quad;
  }
  let bits = 0;
  let held = 0;
  for (; at < digits; at++) {
    const code = digit(text, at);
    if (code < 0) throw invalid(field, `character ${at + 1} is not in the base64 alphabet`);
    held = (held << 6) | code;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[out++] = held >> bits;
    }
  }
  if (padding && (held & ((1 << bits) - 1)) !== 0) throw invalid(field, 'its last character carries stray bits');
  return bytes;
}

/** The value of a digit; -1 when it is none. */
function digit(text: string, at: number): number {
  const char = text.charCodeAt(at);
  return char < 128 ? (CODES[char] as number) : -1;
}

function invalid(field: string, why: string): GatewayError {
  return new GatewayError('invalid_argument', `${field} is not standard base64 with padding: ${why}.`, { field });
}

import { GatewayError } from './error.js';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const CODES = new Uint8Array(128).fill(255);
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

/**
 * Decodes standard base64 (RFC 4648 §4), strictly: padding is required, no other alphabet, no white space,
 * no stray bits. Unlike lenient decoders it never drops a character silently.
 * @param field the name of the value, for the message
 * @throws {GatewayError} `invalid_argument`
 */
export function decodeBase64(text: string, field = 'chunk'): Uint8Array<ArrayBuffer> {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const digits = text.length - padding;
  if (text.length % 4 !== 0) throw invalid(field, `its length ${text.length} is not a multiple of 4`);
  const bytes = new Uint8Array((text.length / 4) * 3 - padding);
  let out = 0;
  let bits = 0;
  let held = 0;
  for (let i = 0; i < digits; i++) {
    const char = text.charCodeAt(i);
    const code = char < 128 ? (CODES[char] as number) : 255;
    if (code === 255) throw invalid(field, `character ${i + 1} is not in the base64 alphabet`);
    held = ((held << 6) | code) & 0xffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[out++] = (held >> bits) & 0xff;
    }
  }
  if (padding && (held & ((1 << bits) - 1)) !== 0) throw invalid(field, 'its last character carries stray bits');
  return bytes;
}

function invalid(field: string, why: string): GatewayError {
  return new GatewayError('invalid_argument', `${field} is not standard base64 with padding: ${why}.`, { field });
}

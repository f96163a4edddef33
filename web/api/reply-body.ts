import { bytesText } from '../format.js';

/** What of a body is shown. */
export type ShownBody = { kind: 'json' | 'text' | 'hex'; text: string } | { kind: 'none' };

/** How much of a body is taken, in bytes. */
export const MAX_BODY_BYTES = 1024 * 1024;

/** How much of a stream stays, in characters: the newest. */
const MAX_STREAM_CHARACTERS = 64 * 1024;

/** Bytes of a row, and how many are shown as they are. */
const HEX_ROW = 16;
const HEX_BYTES = 1024;

/** A body that has come: JSON set out in lines, text as it is, the beginning of all else in hexadecimal digits. */
export function shownBody(type: string, bytes: Uint8Array): ShownBody {
  if (bytes.length === 0) return { kind: 'none' };
  const text = textOf(bytes);
  if (text === null) return { kind: 'hex', text: hexText(bytes) };
  return /[/+]json\b/.test(type) ? jsonBody(text) : { kind: 'text', text };
}

function jsonBody(text: string): ShownBody {
  try {
    return { kind: 'json', text: JSON.stringify(JSON.parse(text), null, 2) };
  } catch {
    return { kind: 'text', text }; // only its beginning came
  }
}

/** Null when it is no text. A character that was cut at the end does not count. */
function textOf(bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: bytes.length >= MAX_BODY_BYTES });
    return text.includes('\0') ? null : text;
  } catch {
    return null;
  }
}

/** The text that bytes are, else their digits. */
export const bytesShown = (bytes: Uint8Array): string => textOf(bytes) ?? hexText(bytes);

/** Bytes as `xxd` shows them, up to a kilobyte. */
function hexText(bytes: Uint8Array): string {
  const rows: string[] = [];
  for (let at = 0; at < Math.min(bytes.length, HEX_BYTES); at += HEX_ROW) {
    const row = [...bytes.subarray(at, at + HEX_ROW)];
    const digits = row.map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    const signs = row.map((byte) => (byte > 31 && byte < 127 ? String.fromCharCode(byte) : '.')).join('');
    rows.push(`${at.toString(16).padStart(8, '0')}  ${digits.padEnd(HEX_ROW * 3)} ${signs}`);
  }
  if (bytes.length > HEX_BYTES) rows.push(`… and ${bytesText(bytes.length - HEX_BYTES)} more`);
  return rows.join('\n');
}

/** The newest text of a stream. */
export class StreamText {
  readonly #decoder = new TextDecoder();
  #text = '';

  /** Answers all that is kept, with these bytes at its end. */
  add(bytes: Uint8Array): string {
    this.#text = (this.#text + this.#decoder.decode(bytes, { stream: true })).slice(-MAX_STREAM_CHARACTERS);
    return this.#text;
  }
}

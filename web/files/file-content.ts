import type { FileMetadata } from '../../src/client/index.js';
import { gateway } from '../session.js';
import { filePath, nameOf, type Place } from './place.js';

/** What of a file can be shown. */
export type Shown =
  | { kind: 'text'; text: string; whole: boolean; line_end: LineEnd | null }
  | { kind: 'image'; image: Blob }
  | { kind: 'none'; why: string };

/** How all lines of a text end: an editor in a page knows one way at a time. */
export type LineEnd = '\n' | '\r\n';

export interface FileShown {
  metadata: FileMetadata;
  shown: Shown;
}

/** So much of a text is shown, and may be edited, in bytes. */
export const MAX_TEXT_BYTES = 256 * 1024;

const MAX_IMAGE_BYTES = 32 * 1024 * 1024;

/** Pictures that hold no program: an SVG is shown as the text it is. */
const IMAGES: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  bmp: 'image/bmp',
  ico: 'image/x-icon',
};

/** Reads what can be shown of a file. */
export async function readShown(place: Place, signal?: AbortSignal): Promise<FileShown> {
  const type = IMAGES[nameOf(place).split('.').at(-1)?.toLowerCase() ?? ''];
  const length = type === undefined ? MAX_TEXT_BYTES + 1 : MAX_IMAGE_BYTES + 1;
  const { metadata, body } = await gateway.files.system.readFile(filePath(place), { length, signal });
  const parts: BlobPart[] = [];
  for await (const bytes of body) parts.push(bytes as Uint8Array<ArrayBuffer>);
  const content = new Blob(parts, { type: type ?? '' });
  if (type === undefined) return { metadata, shown: textOf(new Uint8Array(await content.arrayBuffer())) };
  const why = 'This picture is too large to be shown here.';
  return { metadata, shown: content.size > MAX_IMAGE_BYTES ? { kind: 'none', why } : { kind: 'image', image: content } };
}

function textOf(bytes: Uint8Array): Shown {
  const whole = bytes.length <= MAX_TEXT_BYTES;
  try {
    // Where it was cut, a character may be half.
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes.subarray(0, MAX_TEXT_BYTES), { stream: !whole });
    if (!text.includes('\0')) return { kind: 'text', text, whole, line_end: lineEndOf(text) };
  } catch {
    // It is no text.
  }
  return { kind: 'none', why: 'This is no text, and no picture that is shown here.' };
}

/** Null when lines end in several ways. */
function lineEndOf(text: string): LineEnd | null {
  if (!text.includes('\r')) return '\n';
  return /\r(?!\n)|(?<!\r)\n/.test(text) ? null : '\r\n';
}

import { StringDecoder } from 'node:string_decoder';
import type { Encoding, OutputEvent, ReadOutput } from '../protocol/output.js';
import { asciiBytes } from './ascii-bytes.js';
import { joinBytes } from './join-bytes.js';

/** Output that becomes text in one turn, in bytes: a multiple of 3, as base64 has it. */
const PART_BYTES = 192 * 1024;

/** Bytes as JSON carries them. Decoding as UTF-8 replaces what is not UTF-8. */
export function bytesText(bytes: Uint8Array, encoding: Encoding): string {
  return asBuffer(bytes).toString(encoding);
}

/** The answer to a read as JSON, a `ReadResult`, in parts that are each made in a moment. */
export function* readResultJson({ chunks, ...rest }: ReadOutput, encoding: Encoding): Generator<Buffer, void> {
  const end = `],${JSON.stringify(rest).slice(1)}`;
  const groups = inGroups(chunks);
  if (groups.length <= 1) {
    yield asciiOrText(['{"chunks":[', ...chunkParts(chunks, 0), end], encoding);
    return;
  }
  yield Buffer.from('{"chunks":[');
  for (const [at, group] of groups.entries()) yield asciiOrText(chunkParts(group, at), encoding);
  yield Buffer.from(end);
}

/** The bytes alone, in parts as large. */
export function* rawParts({ chunks }: ReadOutput): Generator<Uint8Array, void> {
  for (const group of inGroups(chunks)) yield joinBytes(group.map(({ chunk }) => chunk));
}

/** An object with two texts made of bytes at its end, in parts that are each made in a moment. */
export function* withBytesJson(fields: object, texts: Record<string, Uint8Array>, encoding: Encoding): Generator<Buffer, void> {
  let head = JSON.stringify(fields).slice(0, -1);
  for (const [name, bytes] of Object.entries(texts)) {
    head += `,${JSON.stringify(name)}:"`;
    for (const text of textParts(bytes, encoding)) {
      if (head.length + text.length > PART_BYTES) {
        yield Buffer.from(head);
        head = '';
      }
      head += text;
    }
    head += '"';
  }
  yield Buffer.from(`${head}}`);
}

function* textParts(bytes: Uint8Array, encoding: Encoding): Generator<string, void> {
  const decoder = new StringDecoder(encoding);
  for (let at = 0; at < bytes.length; at += PART_BYTES) yield inQuotes(decoder.write(asBuffer(bytes.subarray(at, at + PART_BYTES))));
  yield inQuotes(decoder.end());
}

const inQuotes = (text: string) => JSON.stringify(text).slice(1, -1);

function inGroups(chunks: readonly OutputEvent[]): OutputEvent[][] {
  const groups: OutputEvent[][] = [];
  let bytes = PART_BYTES;
  for (const chunk of chunks) {
    if (bytes >= PART_BYTES) {
      groups.push([]);
      bytes = 0;
    }
    groups.at(-1)?.push(chunk);
    bytes += chunk.chunk.length;
  }
  return groups;
}

function chunkParts(chunks: readonly OutputEvent[], group: number): (string | Uint8Array)[] {
  return chunks.flatMap(({ seq, stream, chunk }, at) => [
    `${at + group === 0 ? '' : ','}{"seq":${seq},"stream":"${stream}","chunk":"`,
    chunk,
    '"}',
  ]);
}

/** Text as it is, and bytes as what a JSON string holds. */
function asciiOrText(parts: readonly (string | Uint8Array)[], encoding: Encoding): Buffer {
  if (encoding === 'base64') return asciiBytes(parts);
  return Buffer.from(parts.map((part) => (typeof part === 'string' ? part : inQuotes(bytesText(part, encoding)))).join(''));
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

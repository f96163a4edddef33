import { crc32 } from 'node:zlib';
import type { Block } from './block.js';

/*
 * Everything on disk is a sequence of records, all numbers little-endian:
 *
 *   u32 crc32 of all that follows in the record · u32 length of the body, in bytes · u32 kind · body
 *
 *   kind 1: the body is JSON
 *   kind 2: consecutive chunks: f64 seq of the first · f64 milliseconds since the start · u32 n · n u32 marks · bytes
 *   kind 3: the end of a file that is complete: f64 seq of the event after its last · f64 output bytes in it
 */

/** How long a little may wait for more to be written with it, in milliseconds: a write costs as much as passing output on to its readers. */
export const GATHER_MS = 25;

const JSON_KIND = 1;
const OUTPUT_KIND = 2;
const END_KIND = 3;
const HEAD_BYTES = 12;
const TABLE_AT = 20;

/** Size of the record that ends a file, in bytes. */
export const END_BYTES = HEAD_BYTES + 16;

/** Largest record, in bytes: 64 KiB of output and the table of 16,384 chunks, or JSON of a start, rounded up. A larger one is damage. */
const MAX_RECORD_BYTES = 64 * 1024 * 1024;

/** What one record says. */
export type Content = { json: Record<string, unknown> } | { block: Block; at_ms: number } | { end: FileEnd };

/** What a complete file holds. */
export interface FileEnd {
  /** The event after its last. */
  next_seq: number;
  output_bytes: number;
}

/** A record as it was found. */
export interface Found {
  content: Content;
  /** Where the next one begins. */
  end: number;
}

/** A record of any object. */
export function jsonRecord(value: object): Uint8Array[] {
  const head = Buffer.alloc(HEAD_BYTES);
  const body = Buffer.from(JSON.stringify(value));
  return seal(head, JSON_KIND, body);
}

/** A record of consecutive chunks, whose bytes are not copied. @param at_ms when they were printed, in milliseconds since the start */
export function outputRecord({ first_seq, marks, bytes }: Block, at_ms: number): Uint8Array[] {
  const head = Buffer.alloc(HEAD_BYTES + TABLE_AT + marks.length * 4);
  head.writeDoubleLE(first_seq, HEAD_BYTES);
  head.writeDoubleLE(at_ms, HEAD_BYTES + 8);
  head.writeUInt32LE(marks.length, HEAD_BYTES + 16);
  for (let i = 0; i < marks.length; i++) head.writeUInt32LE(marks[i] as number, HEAD_BYTES + TABLE_AT + i * 4);
  return seal(head, OUTPUT_KIND, bytes);
}

/** The record that ends a file. */
export function endRecord({ next_seq, output_bytes }: FileEnd): Uint8Array[] {
  const body = Buffer.alloc(END_BYTES - HEAD_BYTES);
  body.writeDoubleLE(next_seq, 0);
  body.writeDoubleLE(output_bytes, 8);
  return seal(Buffer.alloc(HEAD_BYTES), END_KIND, body);
}

function seal(head: Buffer, kind: number, rest: Uint8Array): Uint8Array[] {
  head.writeUInt32LE(head.length - HEAD_BYTES + rest.length, 4);
  head.writeUInt32LE(kind, 8);
  head.writeUInt32LE(crc32(rest, crc32(head.subarray(4))), 0);
  return [head, rest];
}

/** How long the record at `at` is, in bytes with its head; null when that is not to be seen, or cannot be. */
export function recordLength(bytes: Buffer, at: number): number | null {
  if (bytes.length - at < HEAD_BYTES) return null;
  const length = HEAD_BYTES + bytes.readUInt32LE(at + 4);
  return length <= MAX_RECORD_BYTES ? length : null;
}

/** The record at `at`; null when it is not whole, or damaged. */
export function readRecord(bytes: Buffer, at: number): Found | null {
  const length = recordLength(bytes, at);
  if (length === null || bytes.length - at < length) return null;
  const end = at + length;
  if (crc32(bytes.subarray(at + 4, end)) !== bytes.readUInt32LE(at)) return null;
  const content = contentOf(bytes.readUInt32LE(at + 8), bytes.subarray(at + HEAD_BYTES, end));
  return content && { content, end };
}

function contentOf(kind: number, body: Buffer): Content | null {
  if (kind === JSON_KIND) return { json: JSON.parse(body.toString()) };
  if (kind === END_KIND) return { end: { next_seq: body.readDoubleLE(0), output_bytes: body.readDoubleLE(8) } };
  if (kind !== OUTPUT_KIND) return null;
  const marks = new Uint32Array(body.readUInt32LE(16));
  for (let i = 0; i < marks.length; i++) marks[i] = body.readUInt32LE(TABLE_AT + i * 4);
  const block = { first_seq: body.readDoubleLE(0), marks, bytes: body.subarray(TABLE_AT + marks.length * 4) };
  return { block, at_ms: body.readDoubleLE(8) };
}

import type { ClosedEvent, ExitedEvent, ProcessEvent } from '../../protocol/index.js';
import type { Block } from './block.js';
import { jsonRecord, outputRecord } from './record.js';

/** What the log hands over to be written: consecutive chunks, or an event without output. */
export type LogPiece = Block | ExitedEvent | ClosedEvent;

/** One record on its way to the disk. */
export interface Piece {
  parts: Uint8Array[];
  /** Its first event. */
  seq: number;
  /** The event after its last. */
  next_seq: number;
  output_bytes: number;
}

/** @param at_ms when it came about, in milliseconds since the start */
export function pieceOf(piece: LogPiece, at_ms: number): Piece {
  if ('event' in piece) {
    return { parts: jsonRecord({ ...piece, at_ms }), seq: piece.seq, next_seq: piece.seq + 1, output_bytes: 0 };
  }
  const { first_seq, marks, bytes } = piece;
  return { parts: outputRecord(piece, at_ms), seq: first_seq, next_seq: first_seq + marks.length, output_bytes: bytes.length };
}

/** The event that a JSON record stands for, if it is one after `after_seq`. */
export function eventOf({ event, seq, exit_code, signal }: Record<string, unknown>, after_seq: number): ProcessEvent[] {
  if (typeof seq !== 'number' || seq <= after_seq) return [];
  if (event === 'exited') return [{ event, seq, exit_code: exit_code as number, signal: signal as string | null }];
  return event === 'closed' ? [{ event, seq }] : [];
}

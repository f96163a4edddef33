import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import {
  DEFAULT_HOLD_MS,
  type ErrorCode,
  type ExecProcess,
  type FollowQuery,
  type Gap,
  GatewayError,
  type OutputEvent,
  type ProcessEvent,
  type ReadOutput,
  type ReadQuery,
  type Stream,
} from '../../src/protocol/index.js';

/** One long-poll, in milliseconds: longer than anything here takes, shorter than a test may. */
const WAIT_MS = 20_000;

/** What a reader was told, from its first event to `closed`. */
export class Told {
  readonly chunks: OutputEvent[] = [];
  readonly gaps: Gap[] = [];
  exit: { exit_code: number | null; signal: string | null; after_chunks: number } | null = null;

  bytes(stream?: Stream): Buffer {
    return bytesOf(this.chunks.filter((chunk) => stream === undefined || chunk.stream === stream));
  }

  text(stream?: Stream): string {
    return this.bytes(stream).toString('utf8');
  }

  sha256(): string {
    return sha256(this.bytes());
  }
}

export const bytesOf = (chunks: OutputEvent[]) => Buffer.concat(chunks.map(({ chunk }) => chunk));

export const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** The code of the `GatewayError` that a call rejects with. */
export async function codeOf(call: Promise<unknown>): Promise<ErrorCode> {
  return (await errorOf(call)).code;
}

/** The `GatewayError` that a call rejects with. */
export async function errorOf(call: Promise<unknown>): Promise<GatewayError> {
  const error = await call.then(
    () => new Error('The call did not fail.'),
    (reason) => reason,
  );
  if (error instanceof GatewayError) return error;
  throw error;
}

/** Reads a process by long-poll until it is closed; holds each answer to the rules of the sequence. */
export async function readAll(processes: ExecProcess, process_id: string, query: ReadQuery = {}): Promise<Told> {
  const told = new Told();
  let after_seq = query.after_seq ?? 0;
  for (;;) {
    const answer = await processes.read(process_id, { wait_ms: WAIT_MS, ...query, after_seq });
    checkAnswer(answer, after_seq, query.stream !== undefined);
    told.chunks.push(...answer.chunks);
    if (answer.gap) told.gaps.push(answer.gap);
    if (answer.exited) told.exit ??= { ...exitOf(answer), after_chunks: told.chunks.length };
    after_seq = answer.next_seq - 1;
    if (answer.closed) return told;
  }
}

/** Reads until the output holds `mark`. Continue with `after_seq`. */
export async function readUntil(processes: ExecProcess, process_id: string, mark: string, query: ReadQuery = {}) {
  let text = '';
  for (let after_seq = query.after_seq ?? 0; ; ) {
    const answer = await processes.read(process_id, { wait_ms: WAIT_MS, ...query, after_seq });
    text += bytesOf(answer.chunks).toString('latin1');
    // An answer without a chunk may tell of the exit, after which others still print.
    const news = answer.next_seq - 1 > after_seq;
    after_seq = answer.next_seq - 1;
    if (text.includes(mark)) return { text, after_seq };
    if (answer.closed || !news) throw new Error(`No ${JSON.stringify(mark)} in ${JSON.stringify(text.slice(-500))}`);
  }
}

/**
 * Waits until a process stands still: in a wait for its exit that is longer than it waits for an ordinary follower it has
 * neither ended nor printed. A poll would be a reader, whom it need not wait for.
 * @returns what it has printed by then, in bytes
 */
export async function untilStill(processes: ExecProcess, process_id: string): Promise<number> {
  for (let before = 0; ; ) {
    // Within this program nothing is printed while it only asks.
    const wait_ms = before === 0 ? 20 : 1.5 * DEFAULT_HOLD_MS;
    const { exited_at, total_bytes } = await processes.get(process_id, { wait_ms });
    if (exited_at !== null) throw new Error('It has ended: nothing held it.');
    if (total_bytes > 0 && total_bytes === before) return before;
    before = total_bytes;
  }
}

/** Follows a process until it is closed; holds the events to the rules of the sequence. */
export async function followAll(processes: ExecProcess, process_id: string, query: FollowQuery = {}): Promise<Told> {
  const told = new Told();
  const place = { seq: query.after_seq ?? 0, closed: false };
  for await (const batch of await processes.follow(process_id, query)) {
    for (const event of batch) take(event, told, place, query.stream !== undefined);
  }
  expect(place.closed, 'the stream ends with closed').toBe(true);
  return told;
}

function take(event: ProcessEvent, told: Told, place: { seq: number; closed: boolean }, filtered: boolean): void {
  expect(place.closed, 'nothing comes after closed').toBe(false);
  const [first, last] = event.event === 'gap' ? [event.from_seq, event.to_seq] : [event.seq, event.seq];
  if (filtered) expect(first).toBeGreaterThan(place.seq);
  else expect(first, 'no hole and no repetition').toBe(place.seq + 1);
  place.seq = last;
  if (event.event === 'output') told.chunks.push(event);
  else if (event.event === 'gap') told.gaps.push(event);
  else if (event.event === 'closed') place.closed = true;
  else {
    expect(told.exit, 'exited comes once').toBeNull();
    told.exit = { ...exitOf(event), after_chunks: told.chunks.length };
  }
}

function checkAnswer({ chunks, gap, next_seq, exited, closed }: ReadOutput, after_seq: number, filtered: boolean): void {
  let seq = after_seq;
  if (gap) {
    expect(gap.from_seq).toBe(after_seq + 1);
    seq = gap.to_seq;
  }
  for (const chunk of chunks) {
    // `exited` takes a number of its own among the chunks.
    expect([seq + 1, ...(filtered ? [chunk.seq] : exited ? [seq + 2] : [])]).toContain(chunk.seq);
    seq = chunk.seq;
  }
  expect(next_seq).toBeGreaterThan(seq);
  expect(next_seq).toBeLessThanOrEqual(filtered ? Number.MAX_SAFE_INTEGER : seq + 3);
  if (closed) expect(exited).toBe(true);
}

const exitOf = ({ exit_code, signal }: { exit_code: number | null; signal: string | null }) => ({ exit_code, signal });

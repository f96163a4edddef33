import { seqOf } from '../protocol/event-seq.js';
import { type Gap, GatewayError, type OutputEvent, type ProcessEvent, type Subscription } from '../protocol/index.js';
import type { KeptOutput } from './kept-output.js';

/** A part of what is kept, in bytes. */
export interface BytePart {
  offset: number;
  length: number;
}

/** Begins to read after an event. */
export type ReadOn = (after_seq: number) => Subscription<ProcessEvent>;

/**
 * A part of the kept output as bytes, a batch of the reader at a time; a block is good until the next is asked for.
 * @throws {GatewayError} `output_evicted` when what was kept is no longer, before it was read
 */
export async function* keptBytes(kept: KeptOutput, { offset, length }: BytePart, readOn: ReadOn): AsyncGenerator<Uint8Array, void> {
  const joined = new Joined();
  const { after_seq, skip } = placeOf(kept, offset);
  const place = { after_seq, skip, left: length };
  if (length === 0) return;
  for await (const batch of readOn(after_seq)) {
    const chunks = batch.flatMap((event) => take(event, kept, place));
    if (chunks.length > 0) yield joined.join(chunks);
    if (place.left === 0) return;
    if (place.after_seq >= kept.next_seq - 1) throw evicted(place.after_seq);
  }
}

/** What an event brings to the part. */
function take(event: ProcessEvent, kept: KeptOutput, place: { after_seq: number; skip: number; left: number }): Uint8Array[] {
  if (event.event === 'gap') checkGap(kept, event);
  place.after_seq = seqOf(event);
  if (place.after_seq >= kept.next_seq || event.event !== 'output' || !counts(event, kept)) return [];
  const chunk = event.chunk.subarray(place.skip, place.skip + place.left);
  place.skip -= Math.min(place.skip, event.chunk.length);
  place.left -= chunk.length;
  return chunk.length > 0 ? [chunk] : [];
}

/** Where to begin, so that `skip` bytes come before the one at `offset`. */
function placeOf({ spans, next_seq }: KeptOutput, offset: number): { after_seq: number; skip: number } {
  let skip = offset;
  for (const { first_seq, bytes } of spans) {
    if (skip < bytes) return { after_seq: first_seq - 1, skip };
    skip -= bytes;
  }
  return { after_seq: next_seq - 1, skip };
}

const counts = ({ stream }: OutputEvent, kept: KeptOutput) => kept.stream === undefined || stream === kept.stream;

/**
 * A gap in what was kept is a hole in what was promised.
 * @throws {GatewayError} `output_evicted`
 */
export function checkGap({ spans }: KeptOutput, { from_seq, to_seq }: Gap): void {
  if (spans.some(({ first_seq, next_seq }) => first_seq <= to_seq && next_seq > from_seq)) throw evicted(to_seq);
}

function evicted(to_seq: number): GatewayError {
  return new GatewayError('output_evicted', `Output up to event ${to_seq} is no longer held: ask again for what is left.`);
}

/** Small chunks leave as one; the memory for it is the same each time. */
class Joined {
  #buffer = Buffer.alloc(0);

  join(chunks: Uint8Array[]): Uint8Array {
    if (chunks.length === 1) return chunks[0] as Uint8Array;
    const size = chunks.reduce((sum, { length }) => sum + length, 0);
    if (this.#buffer.length < size) this.#buffer = Buffer.allocUnsafeSlow(size);
    let used = 0;
    for (const chunk of chunks) {
      this.#buffer.set(chunk, used);
      used += chunk.length;
    }
    return this.#buffer.subarray(0, used);
  }
}

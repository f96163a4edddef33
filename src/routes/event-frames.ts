import { frameLine } from '../protocol/event-frame.js';
import type { ProcessEvent } from '../protocol/output.js';
import type { LentBytes } from './live-reply.js';
import { encodeOnce } from './shared-bytes.js';

/** A chunk of this size and more, in bytes, is lent as it is held: to hand a part on costs what copying so much does. */
const LENT_BYTES = 16 * 1024;

/** One batch as `EVENT_FRAMES_TYPE` carries it. */
export const frameBytes = encodeOnce((batch: ProcessEvent[]): Uint8Array | LentBytes => {
  const lent: Uint8Array[] = [];
  let copied: Uint8Array[] = [];
  const copy = () => Buffer.concat(copied);
  for (const event of batch) {
    copied.push(Buffer.from(frameLine(event)));
    if (event.event !== 'output') continue;
    if (event.chunk.length < LENT_BYTES) copied.push(event.chunk);
    else {
      lent.push(copy(), event.chunk);
      copied = [];
    }
  }
  if (lent.length === 0) return copy();
  if (copied.length > 0) lent.push(copy());
  return { lent };
});

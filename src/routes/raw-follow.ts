import type { FastifyReply } from 'fastify';
import type { ProcessEvent, Subscription } from '../protocol/index.js';
import { gatherBytes } from './join-bytes.js';
import { type LentBytes, type LiveForm, liveReply } from './live-reply.js';
import { encodeOnce } from './shared-bytes.js';

/** Batches up to this size, in bytes, are copied, so that nobody waits until they are on their way. */
const COPIED_BYTES = 4096;

/** The bytes of one batch: large ones as they are held. */
const outputBytes = encodeOnce((batch: ProcessEvent[]): Uint8Array | LentBytes => {
  const chunks = batch.flatMap((event) => (event.event === 'output' ? [event.chunk] : []));
  const bytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  return bytes > COPIED_BYTES ? { lent: gatherBytes(chunks) } : Buffer.concat(chunks, bytes);
});

/** Streams output as raw bytes until it is closed. A hole in it breaks the transfer off: raw bytes cannot tell of one. */
export function followRaw(
  reply: FastifyReply,
  content_type: string,
  end: AbortSignal,
  subscribe: (signal: AbortSignal) => Promise<Subscription<ProcessEvent>>,
): Promise<FastifyReply> {
  return liveReply(reply, end, subscribe, (subscription) => rawForm(subscription, content_type));
}

function rawForm(subscription: Subscription<ProcessEvent>, content_type: string): LiveForm<ProcessEvent[]> {
  const { gap } = subscription;
  let closed = subscription.ended;
  return {
    headers: { 'content-type': content_type, ...(gap ? { 'exec-gap': JSON.stringify(gap) } : {}) },
    encode(batch) {
      // The gap that is told ahead may come in two parts, with the exit between them.
      if (batch.some((event) => event.event === 'gap' && event.to_seq > (gap?.to_seq ?? 0))) return null;
      closed ||= batch.at(-1)?.event === 'closed';
      return outputBytes(batch);
    },
    complete: () => closed,
  };
}

import type { FastifyReply } from 'fastify';
import type { ProcessEvent, Subscription } from '../protocol/index.js';
import { joinBytes } from './join-bytes.js';
import { type LiveForm, liveReply } from './live-reply.js';
import { encodeOnce } from './shared-bytes.js';

/** The bytes of one batch; those of a single chunk as they are held. */
const outputBytes = encodeOnce((batch: ProcessEvent[]) =>
  joinBytes(batch.flatMap((event) => (event.event === 'output' ? [event.chunk] : []))),
);

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
      if (batch.some((event) => event.event === 'gap' && event.to_seq !== gap?.to_seq)) return null;
      closed ||= batch.at(-1)?.event === 'closed';
      return outputBytes(batch);
    },
    complete: () => closed,
  };
}

import type { FastifyReply } from 'fastify';

/**
 * Makes a call that may wait, and gives it up when its caller leaves.
 * The reply's own end tells that: a request with a body is "closed" as soon as the body was read.
 */
export async function whileCallerStays<T>(reply: FastifyReply, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const gone = new AbortController();
  const leave = () => gone.abort();
  reply.raw.once('close', leave);
  try {
    return await call(gone.signal);
  } finally {
    reply.raw.off('close', leave);
  }
}

/**
 * A long-poll: waits up to `wait_ms` for as long as the caller stays; when the gateway stops, it answers with what there is.
 * @param call the read to make; made again without a wait when the stop cut it
 */
export async function longPoll<T>(
  reply: FastifyReply,
  stopping: AbortSignal,
  wait_ms: number,
  call: (wait_ms: number, signal?: AbortSignal) => Promise<T>,
): Promise<T> {
  if (wait_ms === 0 || stopping.aborted) return call(0);
  return whileCallerStays(reply, async (gone) => {
    const cut = new AbortController();
    const abort = () => cut.abort();
    gone.addEventListener('abort', abort);
    stopping.addEventListener('abort', abort);
    try {
      return await call(wait_ms, cut.signal);
    } catch (error) {
      if (stopping.aborted && !gone.aborted) return await call(0);
      throw error;
    } finally {
      stopping.removeEventListener('abort', abort);
    }
  });
}

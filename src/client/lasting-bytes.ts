import { GatewayError } from '../protocol/error.js';
import type { CallOptions } from '../protocol/exec-process.js';
import { startRetry } from './persist.js';
import { Backoff, type RetryOptions } from './retry.js';

/** The part of a content that is wanted, or what is left of it. */
export interface BytePlace extends CallOptions {
  offset?: number | undefined;
  length?: number | undefined;
  if_match?: string | undefined;
}

/** Content as one connection brings it. */
export interface OpenBytes {
  /** What tells it from other content; null when nothing does. */
  etag: string | null;
  body: AsyncIterable<Uint8Array>;
}

/**
 * Content as it comes. A dropped connection is taken up again where it broke, as long as the content is the same; a gateway that
 * was never reached is told of as soon as by a write.
 * @param resumable whether a part can be asked for; else nothing is taken up once it has begun. Default true
 */
export async function* lastingBytes(
  open: (place: BytePlace) => Promise<OpenBytes>,
  { offset = 0, length, if_match, signal }: BytePlace,
  retry: Required<RetryOptions>,
  resumable = true,
): AsyncGenerator<Uint8Array, void> {
  let backoff = new Backoff(startRetry(retry));
  let at = offset;
  let etag = if_match;
  let reached = false;
  for (let left = length; ; ) {
    try {
      const content = await open({ offset: at, length: left, if_match: etag, signal });
      backoff.reached();
      if (!reached) backoff = new Backoff(retry);
      reached = true;
      for await (const bytes of content.body) {
        at += bytes.length;
        if (left !== undefined) left -= bytes.length;
        etag ??= content.etag ?? undefined;
        backoff.progress();
        yield bytes;
      }
      return;
    } catch (error) {
      if (!(error instanceof GatewayError && error.code === 'upstream_unreachable') || (!resumable && at > offset)) throw error;
      await backoff.pause(error, signal);
    }
  }
}

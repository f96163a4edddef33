import type { Readable } from 'node:stream';
import type { GatewayApp } from './gateway-app.js';

/** Time that a caller has to stop sending a body that nobody reads any more, in milliseconds: it may look at the answer late. */
const LINGER_MS = 5_000;

/**
 * Lets what is left of a body run into nothing when it was answered before its end, so that the caller can read the answer and
 * the connection is good for another request; one that goes on for too long is cut.
 */
export function addUnreadBody(app: GatewayApp): void {
  app.addHook('onResponse', ({ raw }, _reply, done) => {
    if (!raw.complete && !raw.destroyed) {
      endLater(raw);
      raw.resume();
    }
    done();
  });
}

/** Ends what was answered, a while later: its caller may still be sending, or never close. */
export function endLater(stream: Readable): void {
  const timer = setTimeout(() => stream.destroy(), LINGER_MS).unref();
  stream.once('close', () => clearTimeout(timer));
}

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
      const timer = setTimeout(() => raw.destroy(), LINGER_MS).unref();
      raw.once('close', () => clearTimeout(timer)).resume();
    }
    done();
  });
}

import { GatewayError } from '../protocol/error.js';
import type { GatewayApp } from './gateway-app.js';

/** Refuses an Expect header other than 100-continue, which Node answers by itself (RFC 9110 §10.1.1). */
export function addExpectationCheck(app: GatewayApp): void {
  // Node keeps such a request to itself unless it is asked for it.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.addHook('onRequest', (request, _reply, done) => {
    const { expect } = request.raw.headers;
    if (expect === undefined || /^100-continue$/i.test(expect)) return done();
    done(new GatewayError('expectation_failed', 'Only "Expect: 100-continue" is known: leave the header out.', { field: 'Expect' }));
  });
}

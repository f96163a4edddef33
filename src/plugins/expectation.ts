import { GatewayError } from '../protocol/error.js';
import type { GatewayApp } from './gateway-app.js';

/**
 * Refuses an Expect header other than 100-continue (RFC 9110 §10.1.1), which is answered when all checks that need no body
 * are passed. A route that reads its body as it comes answers it by itself.
 */
export function addExpectationCheck(app: GatewayApp): void {
  // Node keeps such requests to itself, or lets any body come, unless it is asked for them.
  for (const event of ['checkContinue', 'checkExpectation']) {
    app.server.on(event, (request, response) => app.server.emit('request', request, response));
  }
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.raw.httpVersion === '1.0') delete request.raw.headers.expect; // it knows no interim answers: passed over
    const { expect } = request.raw.headers;
    if (expect === undefined || /^100-continue$/i.test(expect)) return done();
    done(new GatewayError('expectation_failed', 'Only "Expect: 100-continue" is known: leave the header out.', { field: 'Expect' }));
  });
  app.addHook('preParsing', (request, reply, _payload, done) => {
    if (request.raw.headers.expect !== undefined && !request.routeOptions.config.streams) reply.raw.writeContinue();
    done();
  });
}

import type { GatewayApp } from '../plugins/gateway-app.js';
import { GatewayError } from '../protocol/error.js';

/** Headers that set a condition on a change (RFC 9110 §13.1). */
const CONDITIONS = ['If-Match', 'If-None-Match', 'If-Unmodified-Since'] as const;

type Condition = (typeof CONDITIONS)[number];

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The conditions that a route which changes something knows. */
    conditions?: Condition[];
  }
}

/** Refuses a change under a condition that its route does not know: without it the change could hit what it was to spare. */
export function addConditionCheck(app: GatewayApp): void {
  app.addHook('onRequest', ({ method, headers, routeOptions }, _reply, done) => {
    if (method === 'GET' || method === 'HEAD') return done();
    const known = routeOptions.config.conditions ?? [];
    const field = CONDITIONS.find((name) => headers[name.toLowerCase()] !== undefined && !known.includes(name));
    if (field === undefined) return done();
    const detail = `${field} is not known here, and nothing is changed without it: ${known.length ? `send ${known.join(' or ')}` : 'leave it out'}.`;
    done(new GatewayError('invalid_request', detail, { field }));
  });
}

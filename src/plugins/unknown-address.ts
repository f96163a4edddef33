import type { FastifyReply, FastifyRequest } from 'fastify';
import { GatewayError } from '../protocol/error.js';
import type { GatewayApp } from './gateway-app.js';

/** Answers addresses that are not there with `not_found`, and known ones asked by another method with `method_not_allowed`. */
export function addUnknownAddress(app: GatewayApp): void {
  const routes = new Map<string, { matches: RegExp; methods: Set<string> }>();
  app.addHook('onRoute', ({ url, method }) => {
    if (url === '*') return;
    const route = routes.get(url) ?? {
      matches: new RegExp(`^${url.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}$`),
      methods: new Set(),
    };
    for (const name of [method].flat()) route.methods.add(name);
    routes.set(url, route);
  });
  const refusal = (request: FastifyRequest, reply: FastifyReply) => {
    const path = request.url.split('?', 1)[0] as string;
    const allowed = [...routes.values()].find(({ matches }) => matches.test(path))?.methods;
    const shown = JSON.stringify(path.slice(0, 200));
    if (!allowed) return new GatewayError('not_found', `There is nothing at ${shown}: GET /openapi.json lists what there is.`);
    const methods = [...allowed];
    reply.header('allow', methods.join(', '));
    return new GatewayError('method_not_allowed', `${shown} takes ${methods.join(', ')}, not ${request.method}.`, { allowed: methods });
  };
  // Before a body is read: what it holds does not matter here.
  app.addHook('onRequest', (request, reply, done) => done(request.is404 ? refusal(request, reply) : undefined));
  app.setNotFoundHandler((request, reply) => {
    throw refusal(request, reply);
  });
}

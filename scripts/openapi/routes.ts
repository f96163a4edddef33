import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { fastify } from 'fastify';
import { addRoutes, type Machine } from '../../src/app.js';
import { DEFAULT_CONFIG } from '../../src/config.js';
import { addJsonParser } from '../../src/plugins/body-parsers.js';
import type { Probes } from '../../src/plugins/probes.js';
import { Sessions } from '../../src/plugins/sessions.js';
import { Tickets } from '../../src/plugins/tickets.js';
import { addValidation } from '../../src/plugins/validation.js';
import { addWebSockets } from '../../src/plugins/websocket.js';
import type { Route } from './document.js';

/** All routes of the server with their schemas, without a server. */
export async function serverRoutes(): Promise<Route[]> {
  const app = fastify({ exposeHeadRoutes: false }).withTypeProvider<TypeBoxTypeProvider>();
  const routes: Route[] = [];
  app.addHook('onRoute', ({ method, url, schema }) => {
    const { params, querystring, body } = (schema ?? {}) as Partial<Route>;
    routes.push({ method: [method].flat().join(), path: url.replaceAll(/:(\w+)/g, '{$1}'), params, querystring, body });
  });
  addJsonParser(app);
  addWebSockets(app);
  addValidation(app);
  // Nothing is called: routes only hold on to these.
  addRoutes(
    app,
    DEFAULT_CONFIG,
    {} as Machine,
    { stopping: new AbortController().signal, streamsEnd: new AbortController().signal } as Probes,
    {
      counts: { in_flight: 0, finished: new Map() },
      keys: { tickets: new Tickets(null), sessions: new Sessions(null, DEFAULT_CONFIG.session_ttl_ms) },
      web: { page: '', assets: new Map() },
    },
  );
  await app.ready();
  return routes;
}

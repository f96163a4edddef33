import type { WebSocket } from '@fastify/websocket';
import type { GatewayApp } from '../plugins/gateway-app.js';
import { prepareUpgrade, upgradeRequired } from '../plugins/websocket.js';
import { GatewayError } from '../protocol/error.js';
import { MAX_CODEX_MESSAGE_BYTES } from '../protocol/limits.js';
import { NoQuery } from './parameters.js';

/**
 * `GET /exec-server`: a WebSocket that speaks the protocol of Codex's exec-server. It is for programs: whatever a browser sends is refused.
 * @param accept serves a socket until it is closed
 */
export function execServerRoute(app: GatewayApp, accept: (socket: WebSocket) => void): void {
  // Routes with a wsHandler are added when the plugin that knows it is there.
  app.register((scope, _options, done) => {
    scope.route({
      method: 'GET',
      url: '/exec-server',
      schema: { querystring: NoQuery },
      async preHandler(request, reply) {
        if (request.headers.origin !== undefined) throw pageRefused();
        if (!request.ws) return;
        prepareUpgrade(request, reply, {
          protocol: null,
          headers: { 'X-Request-Id': request.id },
          max_message_bytes: MAX_CODEX_MESSAGE_BYTES,
        });
      },
      handler(_request, reply) {
        throw upgradeRequired(reply, 'GET /exec-server takes a WebSocket: call it as ws://.');
      },
      wsHandler: accept,
    });
    done();
  });
}

function pageRefused(): GatewayError {
  return new GatewayError('origin_not_allowed', 'No page may call /exec-server, whatever its origin: leave the Origin header out.');
}

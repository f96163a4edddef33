import type { GatewayApp } from '../plugins/gateway-app.js';
import type { Probes } from '../plugins/probes.js';
import { GatewayError } from '../protocol/error.js';
import type { Health } from '../protocol/health.js';

/**
 * `GET /healthz` and `GET /readyz`.
 * @param token what the gateway asks for; null when it asks for nothing
 */
export function healthRoutes(app: GatewayApp, probes: Probes, token: string | null): void {
  const health: Health = { status: 'ok', auth: token === null ? 'none' : 'token' };
  app.get('/healthz', {}, async () => health);
  app.get('/readyz', {}, async () => {
    if (probes.shutting_down()) {
      throw new GatewayError('shutting_down', 'The gateway takes no new work now: use another one, or try again.');
    }
    await probes.ready();
    return { status: 'ready' };
  });
}

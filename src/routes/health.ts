import type { GatewayApp } from '../plugins/gateway-app.js';
import type { Probes } from '../plugins/probes.js';
import { GatewayError } from '../protocol/error.js';

/** `GET /healthz` and `GET /readyz`. */
export function healthRoutes(app: GatewayApp, probes: Probes): void {
  app.get('/healthz', {}, async () => ({ status: 'ok' }));
  app.get('/readyz', {}, async () => {
    if (probes.shutting_down()) {
      throw new GatewayError('shutting_down', 'The gateway takes no new work now: use another one, or try again.');
    }
    await probes.ready();
    return { status: 'ready' };
  });
}

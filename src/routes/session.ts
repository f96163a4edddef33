import type { FastifyRequest } from 'fastify';
import type { GatewayApp } from '../plugins/gateway-app.js';
import type { Sessions } from '../plugins/sessions.js';
import { GatewayError } from '../protocol/error.js';
import { SessionRequest } from '../protocol/session.js';
import { NoQuery } from './parameters.js';

/** Largest body of a sign-in, in bytes: whoever sends it is not known yet. */
const SIGN_IN_BYTES = 16 * 1024;

/**
 * `POST /session`, `GET /session` and `DELETE /session`.
 * @param token without one everyone is signed in already
 */
export function sessionRoutes(app: GatewayApp, sessions: Sessions, token: string | null): void {
  const schema = { querystring: NoQuery };
  app.post(
    '/session',
    { config: { open: () => true }, bodyLimit: SIGN_IN_BYTES, schema: { ...schema, body: SessionRequest } },
    async (request, reply) => {
      const { session, cookie } = sessions.signIn(request.body.token);
      reply.header('set-cookie', setCookie(request, cookie));
      return session;
    },
  );

  app.get('/session', { schema }, async ({ headers }) => {
    const session = token === null ? sessions.signIn('').session : sessions.find(headers.cookie);
    if (session !== null) return session;
    throw new GatewayError('unauthorized', 'The request carries no session: sign in by POST /session.');
  });

  app.delete('/session', { schema }, async (request, reply) => {
    reply.header('set-cookie', setCookie(request, sessions.signOut(request.headers.cookie)));
    return reply.code(204).send();
  });
}

/** No script reads it, no other site's page makes a browser send it, and where the page came by TLS it goes by TLS alone. */
function setCookie(request: FastifyRequest, cookie: string): string {
  return `${cookie}; Path=/; HttpOnly; SameSite=Strict${cameByTls(request) ? '; Secure' : ''}`;
}

/** As a proxy in front or the browser says: whoever lies only keeps its own cookie from being sent. */
function cameByTls({ headers }: FastifyRequest): boolean {
  const forwarded = String(headers['x-forwarded-proto'] ?? '').split(',', 1)[0];
  return forwarded?.trim().toLowerCase() === 'https' || headers.origin?.startsWith('https://') === true;
}

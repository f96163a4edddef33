import { type Static, Type } from '@sinclair/typebox';
import { Instant, Strict } from './schema.js';

/** Body of `POST /session`. */
export const SessionRequest = Strict({
  token: Type.String({ description: 'The token of the gateway. One that asks for none takes any text.' }),
});
export type SessionRequest = Static<typeof SessionRequest>;

/** What a page has to know of its session; the session itself is in a cookie that no script can read. */
export const Session = Strict({
  csrf_token: Type.String({ description: 'To be sent as X-CSRF-Token with every method but GET and HEAD.' }),
  expires_at: Instant('When the page has to sign in again. What was opened before goes on.'),
});
export type Session = Static<typeof Session>;

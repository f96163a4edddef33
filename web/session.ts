import { signal } from '@preact/signals';
import { Gateway, GatewayError } from '../src/client/index.js';
import type { Health } from '../src/protocol/health.js';
import { BASE_URL } from './base-url.js';

/** `unknown` until the gateway has answered. */
type SessionState = 'unknown' | 'in' | 'out';

/** What the gateway answers to a sign-in. */
interface SessionReply {
  csrf_token: string;
  expires_at: string;
}

/** Says that this browser has signed in, and holds no secret: without it the gateway is not asked, and refuses nothing. */
const MARK = 'exec-gateway.signed-in';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

export const sessionState = signal<SessionState>('unknown');

/** Whether the gateway asks for a token: where it asks for none, everyone is in. */
export const asksToken = signal(true);

/** Why one has to sign in again. */
export const sessionNotice = signal<string | null>(null);

let csrf_token = '';

/** `fetch` in the name of the session. A session that has ended shows the sign-in. */
async function sessionFetch(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  const reply = await fetch(input, ofSession(init));
  if (reply.status === 401 && sessionState.value === 'in') leave('Your session has ended. Sign in again to go on.');
  if (reply.status !== 403 || init.body instanceof ReadableStream || !(await isOfOtherSession(reply))) return reply;
  await checkSession();
  return fetch(input, ofSession(init));
}

/** Whether another tab has signed in since: the cookie is that of its session now. */
async function isOfOtherSession(reply: Response): Promise<boolean> {
  const answer = await reply
    .clone()
    .json()
    .catch(() => null);
  return answer?.code === 'invalid_csrf_token';
}

function ofSession(init: RequestInit): RequestInit {
  const headers = new Headers(init.headers);
  if (!SAFE_METHODS.has((init.method ?? 'GET').toUpperCase())) headers.set('x-csrf-token', csrf_token);
  return { ...init, headers, credentials: 'same-origin' };
}

/** How the gateway is reached, over the session. Streams never give up: what they show heals whenever it can. */
export const GATEWAY_OPTIONS = {
  url: BASE_URL,
  name: 'this address',
  fetch: sessionFetch,
  retry: { give_up_ms: Number.POSITIVE_INFINITY, max_delay_ms: 2_000 },
};

export const gateway = new Gateway(GATEWAY_OPTIONS);

/**
 * Asks for what the client has no call for.
 * @throws {GatewayError} what the gateway says, `upstream_unreachable`
 */
export async function askText(path: string, signal: AbortSignal): Promise<string> {
  const reply = await sessionFetch(BASE_URL + path, { signal }).catch((cause: unknown) => {
    throw unreachable(cause);
  });
  if (reply.ok) return reply.text();
  throw GatewayError.fromProblem(await reply.json().catch(() => null)) ?? unreachable(reply.status);
}

/**
 * Sends a request that somebody put together, in the name of the session: also a refusal is theirs to read. It may have ended the
 * session, or begun another, so that is looked at besides.
 * @throws {GatewayError} `upstream_unreachable`
 * @throws {TypeError} for a request that a browser does not send
 */
export async function sendAsGiven(path: string, init: RequestInit): Promise<Response> {
  const request = new Request(BASE_URL + path, ofSession(init));
  const reply = await fetch(request).catch((cause: unknown) => {
    throw unreachable(cause);
  });
  if (reply.status === 401 || path.startsWith('/session')) void checkSession();
  return reply;
}

async function checkSession(): Promise<void> {
  await call({}).then(enter, (error: GatewayError) => {
    if (error.status === 401) leave('Your session has ended. Sign in again to go on.');
  });
}

/** Begins at once where the gateway asks for nothing; else with the session there is, or with the token of the address. */
export async function beginSession(): Promise<void> {
  window.addEventListener('storage', ({ key, newValue }) => {
    if (key === MARK && newValue === null && sessionState.value === 'in') leave('You signed out in another tab.');
  });
  const token = tokenOfAddress();
  asksToken.value = await needsToken();
  if (!asksToken.value) sessionState.value = 'in';
  else if (token !== null) await signIn(token).catch((error: GatewayError) => leave(error.message));
  else if (localStorage.getItem(MARK) === null) sessionState.value = 'out';
  else await resume();
}

/**
 * Signs in.
 * @throws {GatewayError} `unauthorized` for a wrong token, `upstream_unreachable`
 */
export async function signIn(token: string): Promise<void> {
  enter(await call({ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ token }) }));
}

/** Ends the session, here and at the gateway. What a page asks for meanwhile would be refused: it stops first. */
export async function signOut(): Promise<void> {
  sessionState.value = 'unknown';
  await sessionFetch(`${BASE_URL}/session`, { method: 'DELETE' }).catch(() => {}); // it expires by itself
  leave(null);
}

/** A gateway that does not answer is taken for one that does. */
async function needsToken(): Promise<boolean> {
  try {
    const reply = await fetch(`${BASE_URL}/healthz`);
    return ((await reply.json()) as Health).auth !== 'none';
  } catch {
    return true;
  }
}

async function resume(): Promise<void> {
  try {
    enter(await call({}));
  } catch (error) {
    leave((error as GatewayError).status === 401 ? 'Your session has ended. Sign in again to go on.' : (error as GatewayError).message);
  }
}

async function call(init: RequestInit): Promise<SessionReply> {
  let reply: Response;
  try {
    reply = await fetch(`${BASE_URL}/session`, { ...init, credentials: 'same-origin' });
  } catch (cause) {
    throw unreachable(cause);
  }
  const answer: unknown = await reply.json().catch(() => null);
  if (reply.ok && answer !== null) return answer as SessionReply;
  if (reply.status === 401) throw new GatewayError('unauthorized', 'This token is not the one of the gateway.');
  throw GatewayError.fromProblem(answer) ?? unreachable(reply.status);
}

function unreachable(cause: unknown): GatewayError {
  return new GatewayError('upstream_unreachable', 'The gateway cannot be reached. Check that it runs, and try again.', {}, { cause });
}

function enter(reply: SessionReply): void {
  csrf_token = reply.csrf_token;
  localStorage.setItem(MARK, '1');
  sessionNotice.value = null;
  sessionState.value = 'in';
}

function leave(notice: string | null): void {
  csrf_token = '';
  asksToken.value = true;
  localStorage.removeItem(MARK);
  sessionNotice.value = notice;
  sessionState.value = 'out';
}

/** The token of `#token=`, which leaves the address bar and the history at once. */
function tokenOfAddress(): string | null {
  const token = /^#token=(.+)$/.exec(window.location.hash)?.[1];
  if (token === undefined) return null;
  window.history.replaceState(null, '', window.location.pathname + window.location.search);
  try {
    return decodeURIComponent(token);
  } catch {
    return token;
  }
}

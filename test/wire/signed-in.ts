import type { Problem } from '../../src/protocol/error.js';
import type { Session } from '../../src/protocol/session.js';
import { mustBeDescribed } from '../support/described.js';

/** What a browser keeps after signing in, and sends as a page of the gateway does. */
export class SignedIn {
  readonly #url: string;
  readonly session: Session;
  /** `name=value`, as the browser sends it back. */
  readonly cookie: string;
  /** The whole Set-Cookie. */
  readonly set_cookie: string;

  private constructor(url: string, session: Session, set_cookie: string) {
    this.#url = url;
    this.session = session;
    this.set_cookie = set_cookie;
    this.cookie = set_cookie.split(';', 1)[0] as string;
  }

  static async at(url: string, token: string | null, headers: Record<string, string> = {}): Promise<SignedIn> {
    const reply = await signIn(url, { token: token ?? 'any' }, headers);
    if (reply.status !== 200) throw new Error(`It was not signed in: ${await reply.text()}`);
    return new SignedIn(url, (await reply.json()) as Session, reply.headers.get('set-cookie') ?? '');
  }

  /** The headers of a request of the page that may change something. */
  get headers(): Record<string, string> {
    return { cookie: this.cookie, origin: this.#url, 'x-csrf-token': this.session.csrf_token };
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(this.#url + path, { headers: { cookie: this.cookie, ...headers } });
  }

  /** A request as the page sends it, with other headers where they are given; undefined leaves one out. */
  send(method: string, path: string, body?: unknown, changed: Record<string, string | undefined> = {}): Promise<Response> {
    const all = { ...this.headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...changed };
    const headers = Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined));
    return fetch(this.#url + path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  }
}

/** A sign-in, whatever becomes of it. */
export function signIn(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${url}/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

/** The status of a reply and, of a refusal, its code, which openapi.json has to name. */
export async function outcome(reply: Response, method = 'GET'): Promise<[number, string | null]> {
  const text = await reply.text();
  if (reply.ok) return [reply.status, null];
  const { code } = JSON.parse(text) as Problem;
  mustBeDescribed(method, new URL(reply.url).pathname, reply.status, code);
  return [reply.status, code];
}

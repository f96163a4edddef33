import { randomBytes } from 'node:crypto';
import { GatewayError } from '../protocol/error.js';
import type { Session } from '../protocol/session.js';
import { SigningKey, sameText } from './signing-key.js';
import { tokenCheck } from './token-check.js';

/** The beginning of the cookie's name. */
const COOKIE = 'exec_gateway_session_';

/** Sessions that were signed out and would still be good: so many are remembered, the oldest are forgotten first. */
const SIGNED_OUT = 10_000;

const AGAIN = 'sign in again by POST /session';

/** A session, and the cookie that carries it. */
export interface SignedIn {
  session: Session;
  /** `name=value`, and how long it is good. */
  cookie: string;
}

interface Claims {
  id: string;
  /** In milliseconds since 1970. */
  expires: number;
}

/**
 * Lets browsers sign in with the token. A session is a cookie `id.expiry.mac`, signed with a key made from the token: nothing is
 * kept of it, so that a gateway with the same token knows it, after a restart too. The name of the cookie is one of the key, since
 * browsers tell gateways at two ports of a host apart by nothing else.
 */
export class Sessions {
  readonly #isToken: (given: Uint8Array) => boolean;
  readonly #key: SigningKey;
  readonly #ttl_ms: number;
  readonly #signed_out = new Map<string, number>();
  #made_name: string | null = null;

  /**
   * @param token without one any text signs in, and sessions are good until the gateway ends
   * @param ttl_ms how long a session is good, in milliseconds
   */
  constructor(token: string | null, ttl_ms: number) {
    this.#isToken = tokenCheck(token);
    this.#key = new SigningKey(token, 'exec-gateway session');
    this.#ttl_ms = ttl_ms;
  }

  /**
   * Begins a session.
   * @throws {GatewayError} `unauthorized`
   */
  signIn(token: string): SignedIn {
    if (!this.#isToken(Buffer.from(token, 'utf8'))) throw new GatewayError('unauthorized', 'This is not the token of this gateway.');
    const claims = { id: randomBytes(16).toString('base64url'), expires: Date.now() + this.#ttl_ms };
    const text = textOf(claims);
    const cookie = `${this.#name()}=${text}.${this.#mac(text)}; Max-Age=${Math.ceil(this.#ttl_ms / 1000)}`;
    return { session: this.#shown(claims), cookie };
  }

  /**
   * The session of a request; null when it carries none.
   * @param header its Cookie header
   * @throws {GatewayError} `unauthorized` for one that is not of this gateway, or good no longer
   */
  find(header: string | undefined): Session | null {
    const found = this.#look(header);
    if (found instanceof GatewayError) throw found;
    return found === null ? null : this.#shown(found);
  }

  /**
   * Ends the session of a request, if there is one.
   * @returns a cookie that takes its place, and is good no longer
   */
  signOut(header: string | undefined): string {
    const found = this.#look(header);
    if (found !== null && !(found instanceof GatewayError)) this.#end(found);
    return `${this.#name()}=; Max-Age=0`;
  }

  /** Of several cookies one may be from another path or a neighbour at another port: any that is good will do. */
  #look(header: string | undefined): Claims | GatewayError | null {
    if (!header?.includes(COOKIE)) return null;
    const found = valuesOf(header, this.#name()).map((value) => this.#read(value));
    return found.find((one) => !(one instanceof GatewayError)) ?? found[0] ?? null;
  }

  #read(value: string): Claims | GatewayError {
    const [, text = '', id = '', expiry = '', mac = ''] = /^(([\w-]{22})\.([0-9a-z]{1,10}))\.([\w-]*)$/.exec(value) ?? [];
    if (!sameText(mac, this.#mac(text))) return new GatewayError('unauthorized', `The session is not one of this gateway: ${AGAIN}.`);
    const expires = Number.parseInt(expiry, 36);
    if (Date.now() >= expires) {
      return new GatewayError('unauthorized', `The session was good until ${new Date(expires).toISOString()}: ${AGAIN}.`);
    }
    if (this.#signed_out.has(id)) return new GatewayError('unauthorized', `The session was signed out: ${AGAIN}.`);
    return { id, expires };
  }

  #end({ id, expires }: Claims): void {
    const now = Date.now();
    for (const [other, until] of this.#signed_out) {
      if (until <= now || this.#signed_out.size >= SIGNED_OUT) this.#signed_out.delete(other);
    }
    this.#signed_out.set(id, expires);
  }

  #shown(claims: Claims): Session {
    return { csrf_token: this.#key.mac(`csrf.${textOf(claims)}`), expires_at: new Date(claims.expires).toISOString() };
  }

  #mac(text: string): string {
    return this.#key.mac(`session.${text}`);
  }

  #name(): string {
    this.#made_name ??= COOKIE + this.#key.mac('name', 'hex').slice(0, 8);
    return this.#made_name;
  }
}

function textOf({ id, expires }: Claims): string {
  return `${id}.${expires.toString(36)}`;
}

/** The values of all cookies of a name, in their order (RFC 6265 §4.2.1). */
function valuesOf(header: string, name: string): string[] {
  return header.split(';').flatMap((pair) => {
    const text = pair.trim();
    return text.startsWith(`${name}=`) ? [text.slice(name.length + 1)] : [];
  });
}

import { createHmac, randomBytes, scryptSync, timingSafeEqual } from 'node:crypto';

/**
 * Signs texts by HMAC-SHA-256 with a key made from the token, so that every gateway with that token knows its signatures, and one that
 * was restarted too. The key is made when it is first needed: that takes some 30 ms.
 */
export class SigningKey {
  readonly #token: string | null;
  readonly #purpose: string;
  #made_key: Buffer | null = null;

  /**
   * @param token without one the key is at random, and good until the gateway ends
   * @param purpose sets this use of the token apart from any other
   */
  constructor(token: string | null, purpose: string) {
    this.#token = token;
    this.#purpose = purpose;
  }

  /** The signature of a text. */
  mac(text: string, encoding: 'base64url' | 'hex' = 'base64url'): string {
    return createHmac('sha256', this.#key()).update(text).digest(encoding);
  }

  /** Whoever sees a signature can try tokens on it: each guess shall cost as much as a key. */
  #key(): Buffer {
    this.#made_key ??= this.#token === null ? randomBytes(32) : scryptSync(this.#token, this.#purpose, 32);
    return this.#made_key;
  }
}

/** Whether two texts are the same; takes the same time wherever texts of equal length differ. */
export function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

import { randomBytes } from 'node:crypto';

const TRUSTED = /^[A-Za-z0-9._-]{1,64}$/;
const PREFIX = randomBytes(4).toString('hex');
let count = 0;

/** The id of a request: the caller's own `x-request-id` when it is a plain word of up to 64 characters, else a new one. */
export function requestId(given: string | string[] | undefined): string {
  if (typeof given === 'string' && TRUSTED.test(given)) return given;
  count += 1;
  return `${PREFIX}-${count.toString(36)}`;
}

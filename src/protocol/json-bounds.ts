import { GatewayError } from './error.js';
import { MAX_BODY_DEPTH, MAX_BODY_NAMES, MAX_BODY_VALUES } from './limits.js';

/** A smaller body is not looked through, in bytes: whatever it holds is parsed in a few milliseconds. */
const SMALL_BODY_BYTES = 64 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
/** `[` and `{`, `]` and `}` differ in this bit alone. */
const CURLY = 0x20;
const OPEN = 0x5b | CURLY;
const CLOSE = 0x5d | CURLY;

/**
 * Refuses JSON that would take seconds to parse: nested too deep, or of too many values. One look at each byte, before the parser.
 * @throws {GatewayError} `invalid_request`
 */
export function checkJsonBounds(bytes: Uint8Array): void {
  if (bytes.length <= SMALL_BODY_BYTES) return;
  let depth = 0;
  let values = 1;
  let names = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number;
    if (byte === QUOTE) i = endOfString(bytes, i);
    else if (byte === COMMA) values++;
    else if (byte === COLON) names++;
    else if ((byte | CURLY) === OPEN) depth++;
    else if ((byte | CURLY) === CLOSE) depth--;
    if (depth > MAX_BODY_DEPTH) throw tooMuch('nests', 'levels', MAX_BODY_DEPTH);
    if (values > MAX_BODY_VALUES) throw tooMuch('holds', 'values', MAX_BODY_VALUES);
    if (names > MAX_BODY_NAMES) throw tooMuch('holds', 'names of fields', MAX_BODY_NAMES);
  }
}

function endOfString(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}

function tooMuch(does: string, what: string, limit: number): GatewayError {
  return new GatewayError('invalid_request', `The body ${does} more than ${limit} ${what}, which no request needs: send less.`, { limit });
}

import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../protocol/error.js';
import { checkJsonBounds } from '../protocol/json-bounds.js';
import type { GatewayApp } from './gateway-app.js';
import { gatherOctets } from './octets.js';

const JSON_TYPE = 'application/json';
const OCTETS = 'application/octet-stream';

/** Takes JSON bodies and nothing else: what a page can send without a preflight (text, forms) is refused. */
export function addJsonParser(app: GatewayApp): void {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(JSON_TYPE, { parseAs: 'buffer' }, (request, bytes: Buffer, done) => {
    if (!/^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i.test(request.headers['content-type'] ?? '')) {
      return done(unsupported(request.headers['content-type'], [JSON_TYPE]));
    }
    if (bytes.length === 0) return done(null, undefined);
    checkJsonBounds(bytes);
    const text = decode(bytes);
    if (text === null) return done(new GatewayError('invalid_json', 'The body is not UTF-8: send JSON encoded as UTF-8.'));
    void parseJson(request, text, done);
  });
}

/** Also takes raw bytes: for the routes of this scope, which give them back by `releaseOctets` when they can. */
export function addOctetsParser(app: GatewayApp): void {
  const { bodyLimit } = app.initialConfig;
  app.addContentTypeParser(OCTETS, (_request: unknown, body: IncomingMessage) => gatherOctets(body, bodyLimit as number));
}

/** The refusal of a body in a form that is not taken here. */
export function unsupported(given: string | undefined, allowed: string[]): GatewayError {
  const got = given === undefined ? 'no Content-Type' : `Content-Type ${JSON.stringify(given.slice(0, 100))}`;
  return new GatewayError('unsupported_media_type', `The body came with ${got}: send it as ${allowed.join(' or ')}.`, { allowed });
}

function decode(bytes: Buffer): string | null {
  return isUtf8(bytes) ? bytes.toString('utf8') : null;
}

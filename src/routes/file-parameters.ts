import { Type } from '@sinclair/typebox';
import type { GatewayApp } from '../plugins/gateway-app.js';
import { GatewayError } from '../protocol/error.js';

/** Permission bits as text. */
export const ModeText = (description: string) => Type.Optional(Type.String({ pattern: '^[0-7]{1,4}$', description }));

/** Octal text as a number; undefined without it. */
export function modeBits(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number.parseInt(text, 8);
}

/** Refuses queries that are not percent-encoded UTF-8: the parser takes them as they are, and they would name another file. */
export function addQueryCheck(app: GatewayApp): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const query = request.url.slice(request.url.indexOf('?') + 1);
    try {
      decodeURIComponent(query);
      done();
    } catch {
      const detail =
        'The query has a "%" that does not begin an encoded UTF-8 character: write "%25" for a plain one, and a path that is not UTF-8 as path_base64.';
      done(new GatewayError('invalid_path', detail, { field: 'path' }));
    }
  });
}

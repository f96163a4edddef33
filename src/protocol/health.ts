import { type Static, Type } from '@sinclair/typebox';
import { Strict } from './schema.js';

/** Reply of `GET /healthz`. */
export const Health = Strict({
  status: Type.Literal('ok'),
  auth: Type.Union([Type.Literal('token'), Type.Literal('none')], {
    description: 'Whether calls need a token or a session: `none` with `--no-auth`.',
  }),
});
export type Health = Static<typeof Health>;

import { Type } from '@sinclair/typebox';
import type { GatewayApp } from '../plugins/gateway-app.js';
import { CopyRequest, directoryFields, MoveRequest, pathFields } from '../protocol/file.js';
import type { ExecutorFileSystem } from '../protocol/file-system.js';
import { Strict } from '../protocol/schema.js';
import { whileCallerStays } from './caller-gone.js';
import { ModeText, modeBits } from './file-parameters.js';
import { NoQuery } from './parameters.js';
import { entityTags } from './preconditions.js';

const MetadataParameters = Strict({
  ...pathFields,
  follow_symlinks: Type.Optional(Type.Boolean({ description: 'Tell of what a link leads to, not of the link.', default: false })),
});
const DirectoryParameters = Strict({ ...pathFields, ...directoryFields });
const CreateParameters = Strict({
  ...pathFields,
  recursive: Type.Optional(
    Type.Boolean({ description: 'Also make the directories above it, and take one that is there.', default: false }),
  ),
  mode: ModeText('Permission bits, in octal. Default: 777 less the umask.'),
});
const RemoveParameters = Strict({
  ...pathFields,
  recursive: Type.Optional(Type.Boolean({ description: 'Remove a directory with all it holds.', default: false })),
  force: Type.Optional(Type.Boolean({ description: 'Take it as done when nothing is there.', default: false })),
});

/** `GET /fs/metadata`, `GET` and `PUT /fs/directory`, `DELETE /fs/entry`, `POST /fs/copy` and `/fs/move`. */
export function fileTreeRoutes(app: GatewayApp, files: ExecutorFileSystem): void {
  app.get('/fs/metadata', { schema: { querystring: MetadataParameters } }, ({ query: { follow_symlinks, ...path } }, reply) =>
    whileCallerStays(reply, ({ signal }) => files.getMetadata(path, { follow_symlinks, signal })),
  );

  app.get('/fs/directory', { schema: { querystring: DirectoryParameters } }, ({ query: { depth, limit, cursor, ...path } }, reply) =>
    whileCallerStays(reply, ({ signal }) => files.readDirectory(path, { depth, limit, cursor, signal })),
  );

  app.put('/fs/directory', { schema: { querystring: CreateParameters } }, async ({ query: { mode, recursive, ...path } }, reply) => {
    const stored = await files.createDirectory(path, { recursive, mode: modeBits(mode) });
    return reply.code(stored.created ? 201 : 200).send(stored);
  });

  const removal = { schema: { querystring: RemoveParameters }, config: { conditions: ['If-Match' as const] } };
  app.delete('/fs/entry', removal, ({ query: { recursive, force, ...path }, headers }, reply) => {
    const if_match = entityTags('If-Match', headers['if-match']);
    return whileCallerStays(reply, ({ signal }) => files.remove(path, { recursive, force, if_match, signal }));
  });

  app.post('/fs/copy', { schema: { body: CopyRequest, querystring: NoQuery } }, ({ body }, reply) =>
    whileCallerStays(reply, ({ signal }) => files.copy(body, { signal })),
  );

  app.post('/fs/move', { schema: { body: MoveRequest, querystring: NoQuery } }, async ({ body }, reply) => {
    await files.move(body);
    return reply.code(204).send();
  });
}

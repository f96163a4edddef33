import type { FilePath } from '../protocol/index.js';
import { openFile, wholeContent } from './content.js';
import type { Context } from './context.js';
import type { RequestId } from './message.js';
import { invalidRequest } from './rpc-error.js';

/** Largest file that is read whole, in bytes, and the same in words. */
const MAX_FILE_BYTES = 512 * 1024 * 1024;

/** Up to this size, in bytes, a file is read before its answer begins, so that a failure can still be told. */
const SMALL_BYTES = 1024 * 1024;

/** Answers `fs/readFile`. A large file is read while it is sent; a failure in the middle of it ends the connection, as a cut answer must not look whole. */
export async function readWhole({ files, gone, outbox, session }: Context, id: RequestId, path: FilePath): Promise<object | undefined> {
  const content = await openFile(() => files.readFile(path, { signal: gone }), path);
  const { length } = content;
  if (length !== null && length > MAX_FILE_BYTES) {
    await content.close();
    throw invalidRequest(`file is too large to read: limit is ${MAX_FILE_BYTES} bytes`);
  }
  if (length === null || length <= SMALL_BYTES) return { dataBase64: (await wholeContent(content)).toString('base64') };
  try {
    await outbox.stream(`{"id":${JSON.stringify(id)},"result":{"dataBase64":"`, content.body, '"}}');
  } catch (error) {
    session().attachment?.drop('a file could not be read to its end');
    throw error;
  } finally {
    await content.close();
  }
  return undefined;
}

import { type FileContent, type FilePath, GatewayError } from '../protocol/index.js';
import { bytesOf } from './file-uri.js';
import { invalidRequest } from './rpc-error.js';

/**
 * Opens a file, or says that it is none.
 * @throws {RpcError} for a directory or a special file
 */
export async function openFile<T>(open: () => Promise<T>, path: FilePath): Promise<T> {
  try {
    return await open();
  } catch (error) {
    const isNone = error instanceof GatewayError && (error.code === 'is_a_directory' || error.code === 'not_regular_file');
    throw isNone ? invalidRequest(`path \`${bytesOf(path)}\` is not a file`) : error;
  }
}

/**
 * All bytes of a body.
 * @param most how many are taken
 * @param tooLarge what to throw for more
 */
export async function collect(body: AsyncIterable<Uint8Array>, most: number, tooLarge: () => Error): Promise<Buffer> {
  const blocks: Uint8Array[] = [];
  let bytes = 0;
  for await (const block of body) {
    blocks.push(block);
    bytes += block.length;
    if (bytes > most) throw tooLarge();
  }
  return Buffer.concat(blocks);
}

/** The bytes of a content, 64 MiB at most where its length is not known. */
export function wholeContent({ body }: FileContent): Promise<Buffer> {
  return collect(body, MOST_UNSIZED_BYTES, () => invalidRequest(`file is too large to read: limit is ${MOST_UNSIZED_BYTES} bytes`));
}

const MOST_UNSIZED_BYTES = 64 * 1024 * 1024;

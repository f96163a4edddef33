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

/** The bytes of a content, 64 MiB at most where its length is not known. */
export async function collect(content: FileContent): Promise<Buffer> {
  const blocks: Uint8Array[] = [];
  let bytes = 0;
  for await (const block of content.body) {
    blocks.push(block);
    bytes += block.length;
    if (bytes > MOST_UNSIZED_BYTES) throw invalidRequest(`file is too large to read: limit is ${MOST_UNSIZED_BYTES} bytes`);
  }
  return Buffer.concat(blocks);
}

const MOST_UNSIZED_BYTES = 64 * 1024 * 1024;

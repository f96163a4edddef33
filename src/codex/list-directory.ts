import {
  type DirectoryEntry,
  type ExecutorFileSystem,
  type FilePath,
  type FileType,
  GatewayError,
  MAX_FILE_PAGE,
} from '../protocol/index.js';
import { bytesOf, pathOf } from './file-uri.js';
import { invalidRequest } from './rpc-error.js';

/** Entries of one directory that are listed: more would not fit a message. */
const MOST_ENTRIES = 500_000;

/** One entry, told as what it leads to. */
export interface Entry {
  name: string;
  path: Buffer;
  type: FileType | null;
  is_link: boolean;
}

/** All entries of a directory. Links that lead nowhere are left out. */
export async function listDirectory(files: ExecutorFileSystem, path: FilePath, signal: AbortSignal): Promise<Entry[]> {
  const found: Entry[] = [];
  let cursor: string | undefined;
  do {
    const page = await files.readDirectory(path, { limit: MAX_FILE_PAGE, cursor, signal });
    for (const entry of page.entries) {
      const told = await entryOf(files, path, entry, signal);
      if (told) found.push(told);
    }
    cursor = page.next_cursor ?? undefined;
    if (found.length > MOST_ENTRIES) throw invalidRequest(`the directory holds more than ${MOST_ENTRIES} entries`);
  } while (cursor !== undefined);
  return found;
}

async function entryOf(files: ExecutorFileSystem, directory: FilePath, entry: DirectoryEntry, signal: AbortSignal): Promise<Entry | null> {
  const own = entry.name_base64 === null ? Buffer.from(entry.name, 'utf8') : Buffer.from(entry.name_base64, 'base64');
  const above = bytesOf(directory);
  const path = Buffer.concat([above, Buffer.from(above.at(-1) === SLASH ? '' : '/'), own]);
  const { name, type } = entry;
  if (type !== 'symlink') return { name, path, type, is_link: false };
  try {
    const target = await files.getMetadata(pathOf(path), { follow_symlinks: true, signal });
    return { name, path, type: target.type, is_link: true };
  } catch (error) {
    if (error instanceof GatewayError) return null;
    throw error;
  }
}

const SLASH = 0x2f;

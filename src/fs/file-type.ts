import type { Stats } from 'node:fs';
import type { FileType } from '../protocol/file.js';

/** What the system calls it, of whatever tells: metadata or an entry of a directory. */
export function fileType(
  entry: Pick<Stats, 'isFile' | 'isDirectory' | 'isSymbolicLink' | 'isFIFO' | 'isSocket' | 'isBlockDevice'>,
): FileType {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  if (entry.isSymbolicLink()) return 'symlink';
  if (entry.isFIFO()) return 'fifo';
  if (entry.isSocket()) return 'socket';
  return entry.isBlockDevice() ? 'block' : 'char';
}

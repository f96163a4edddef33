import { realpathSync } from 'node:fs';
import { resolve, sep } from 'node:path';
import { GatewayError } from '../protocol/index.js';
import type { FileRoot } from './file-root.js';

/**
 * Keeps working directories in the file root: a relative one starts there, none is the root itself, and links are followed
 * before it is judged. Between that and the start of the program a link may be put in its place; and a program may leave
 * its working directory by itself.
 * @returns what makes the directory asked for the one to be used; it throws `path_outside_root`
 */
export function confinedCwd({ path: root }: Pick<FileRoot, 'path'>): (cwd: string | undefined) => string {
  const inside = (path: string) => path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
  return (cwd = '.') => {
    const asked = resolve(root, cwd);
    const path = realPath(asked) ?? asked; // what cannot be entered is told by whoever enters it
    if (inside(path)) return path;
    const detail = `cwd ${JSON.stringify(cwd)} leads out of the file root, which working directories are confined to (--confine-cwd).`;
    throw new GatewayError('path_outside_root', detail, { field: 'cwd' });
  };
}

function realPath(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch {
    return null;
  }
}

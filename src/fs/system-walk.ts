import { constants } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { errnoOf, systemError } from './file-error.js';
import { Held } from './held-directory.js';
import { isAbsolute, isDot, isDotDot, pathNames, saysDirectory } from './path-bytes.js';
import { type Links, linkText, Place } from './place.js';

/** Links that one path may lead through, as in the kernel (path_resolution(7)). */
export const MAX_LINKS = 40;

const { O_DIRECTORY } = constants;
const DOT = Buffer.from('.');
const ROOT = Buffer.from('/');

/** Finds a place the way the system does, from an absolute path: where every path is allowed. */
export async function systemWalk(path: Buffer, links: Links, createParents: boolean): Promise<Place> {
  let directory = await Held.open(ROOT, O_DIRECTORY);
  try {
    let rest = path;
    for (let followed = 0; followed <= MAX_LINKS; followed++) {
      const [above, name] = split(rest);
      const next = await enter(isAbsolute(rest) ? above : directory.at(above), createParents);
      directory.close();
      directory = next;
      const place = new Place(directory, name, links === 'follow', links === 'keep', saysDirectory(path));
      if (links !== 'resolve' || place.isDirectoryItself) return place;
      const text = await linkText(place.path);
      if (text === null) return place;
      rest = text;
    }
    throw systemError('ELOOP');
  } catch (error) {
    directory.close();
    throw error;
  }
}

/** The directory part of a path and the name in it; a path that ends in `.`, `..` or nothing names a directory itself. */
function split(path: Buffer): [above: Buffer, name: Buffer] {
  const name = pathNames(path).at(-1);
  if (name === undefined || isDot(name) || isDotDot(name)) return [path, DOT];
  const at = path.lastIndexOf(name);
  return [at === 0 ? DOT : path.subarray(0, at), name];
}

async function enter(path: Buffer, create: boolean): Promise<Held> {
  try {
    return await Held.open(path, O_DIRECTORY);
  } catch (error) {
    if (!create || errnoOf(error) !== 'ENOENT') throw error;
    await makeDirectories(path);
    return await Held.open(path, O_DIRECTORY);
  }
}

/** Makes each directory of a path that is missing; one that another maker was faster with is as good. */
async function makeDirectories(path: Buffer): Promise<void> {
  for (let slash = path.indexOf('/', 1); ; slash = path.indexOf('/', slash + 1)) {
    const part = slash < 0 ? path : path.subarray(0, slash);
    await mkdir(part).catch((error) => {
      if (errnoOf(error) !== 'EEXIST') throw error;
    });
    if (slash < 0) return;
  }
}

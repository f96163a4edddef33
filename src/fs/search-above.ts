import { readlink } from 'node:fs/promises';
import type { FileRoot } from './file-root.js';
import { type Held, HOLDS_DESCRIPTORS } from './held-directory.js';
import { pathNames } from './path-bytes.js';
import { openContent } from './read-file.js';
import type { SearchTask } from './search-messages.js';

/** Largest .gitignore that is read, in bytes. */
const MAX_RULES_BYTES = 1024 * 1024;

/**
 * The .gitignore files above a directory, up to the repository it is in, as far as the file root allows. Without a repository
 * there are none.
 */
export async function rulesAbove(root: FileRoot, directory: Held): Promise<SearchTask['rules_above']> {
  const real = HOLDS_DESCRIPTORS ? await readlink(directory.path, { encoding: 'buffer' }) : directory.path;
  const names = pathNames(real);
  const rules: SearchTask['rules_above'] = [];
  for (let depth = names.length; depth >= pathNames(Buffer.from(root.path)).length; depth--) {
    const above = names.slice(0, depth);
    const between = Buffer.concat(names.slice(depth).flatMap((name) => [name, SLASH])).toString();
    const text = depth < names.length ? await contentOf(root, below(above, '.gitignore')) : null;
    if (text !== null) rules.unshift({ text, between });
    if (await isThere(root, below(above, '.git'))) return rules;
  }
  return [];
}

const SLASH = Buffer.from('/');

function below(names: Buffer[], name: string): { path_base64: string } {
  const path = Buffer.concat([...names, Buffer.from(name)].flatMap((part) => [SLASH, part]));
  return { path_base64: path.toString('base64') };
}

async function isThere(root: FileRoot, path: { path_base64: string }): Promise<boolean> {
  return await root.at(path, {}, async (place) => (await place.peek()) !== null).catch(() => false);
}

/** What a file holds, or null where there is none that can be read. */
async function contentOf(root: FileRoot, path: { path_base64: string }): Promise<string | null> {
  try {
    const { body } = await root.at(path, {}, (place) => openContent(place, { length: MAX_RULES_BYTES }, '.gitignore'));
    const parts: Uint8Array[] = [];
    for await (const part of body) parts.push(part);
    return Buffer.concat(parts).toString();
  } catch {
    return null;
  }
}

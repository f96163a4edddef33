import { nameBytes } from './directory-names.js';
import { fileError } from './file-error.js';
import { showPath } from './path-bytes.js';

/** What is done to a tree. The visitor keeps where it is; the walk keeps what is still to be done. */
export interface TreeVisitor<T> {
  /** Acts on all that is in the directory it is in; gives the names of the directories to be entered. */
  visit(path: Buffer[]): Promise<string[]>;
  /** Goes down; gives what `leave` is to know, or null when there is no directory any more. */
  enter(name: Buffer): Promise<T | null>;
  /** Goes back up, when all below is done. */
  leave(name: Buffer, entered: T): Promise<void>;
}

interface Level<T> {
  name: Buffer;
  entered: T;
  /** The directories in it that are still to be entered. */
  directories: string[];
}

/**
 * Walks a tree, each directory after all below it, without recursion: its depth costs no stack.
 * @param name of the top, where the visitor is already
 * @throws {GatewayError} what the system says, with the path from the top on; the first failure ends it
 */
export async function walkTree<T>(name: Buffer, entered: T, visitor: TreeVisitor<T>): Promise<void> {
  const levels: Level<T>[] = [];
  const path = () => levels.map((level) => level.name);
  const push = async (level: Level<T>) => {
    levels.push(level);
    level.directories = await visitor.visit(path());
  };
  try {
    await push({ name, entered, directories: [] });
    for (let level = levels.at(-1); level; level = levels.at(-1)) {
      const below = level.directories.pop();
      if (below === undefined) {
        await visitor.leave(level.name, level.entered);
        levels.pop();
        continue;
      }
      const next = nameBytes(below);
      const found = await naming([...path(), next], () => visitor.enter(next));
      if (found !== null) await push({ name: next, entered: found, directories: [] });
    }
  } catch (error) {
    throw fileError(error, showNames(path()));
  }
}

/** Does something; what the system refuses is told with this path. */
export async function naming<T>(path: Buffer[], act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw fileError(error, showNames(path));
  }
}

/** Names as one path. */
export const joinNames = (names: Buffer[]): Buffer => Buffer.concat(names.flatMap((name, i) => (i > 0 ? [SLASH, name] : [name])));

const showNames = (names: Buffer[]): string => showPath(joinNames(names));

const SLASH = Buffer.from('/');

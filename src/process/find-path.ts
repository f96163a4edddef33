import { lstatSync, readlinkSync, type Stats } from 'node:fs';
import { normalize } from 'node:path/posix';
import { SandboxRefusal } from '../protocol/sandbox.js';

/** Links on the way of one path, as many as the system follows. */
const MOST_LINKS = 40;

/** Where a path leads. */
export interface FoundPath {
  /** Without links and `..`; below what is missing as it was asked for. */
  path: string;
  kind: 'directory' | 'other' | 'missing';
  /** The links on the way, each at a path without links. */
  links: { at: string; target: string }[];
}

/**
 * Follows an absolute path as the system does.
 * @throws {SandboxRefusal} for one that cannot be looked at, or leads in circles
 */
export function findPath(asked: string): FoundPath {
  const links: FoundPath['links'] = [];
  let names = namesOf(asked);
  let done: string[] = [];
  let kind: FoundPath['kind'] = 'directory';
  while (names.length > 0) {
    const name = names.shift() as string;
    if (name === '..') {
      done.pop();
      continue;
    }
    const at = `/${[...done, name].join('/')}`;
    const stats = look(at);
    if (!stats) return { path: normalize(`/${[...done, name, ...names].join('/')}`), kind: 'missing', links };
    if (!stats.isSymbolicLink()) {
      done.push(name);
      kind = stats.isDirectory() ? 'directory' : 'other';
      continue;
    }
    const target = linkText(at);
    if (links.push({ at, target }) > MOST_LINKS)
      throw new SandboxRefusal(`The sandbox names ${asked}, which leads through too many links.`);
    names = [...namesOf(target), ...names];
    if (target.startsWith('/')) done = [];
  }
  return { path: `/${done.join('/')}`, kind: done.length === 0 ? 'directory' : kind, links };
}

const namesOf = (path: string): string[] => path.split('/').filter((name) => name !== '' && name !== '.');

function look(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw new SandboxRefusal(`The sandbox names ${path}, which cannot be looked at (${(error as NodeJS.ErrnoException).code}).`);
  }
}

function linkText(path: string): string {
  const bytes = readlinkSync(path, 'buffer');
  const text = bytes.toString('utf8');
  if (Buffer.from(text, 'utf8').equals(bytes)) return text;
  throw new SandboxRefusal(`The sandbox names ${path}, a link whose text is not UTF-8.`);
}

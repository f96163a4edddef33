import type { FileMetadata } from '../protocol/index.js';

/** What a word of the command line names: a path of the gateway, one of this machine, or standard input or output. */
export interface Operand {
  kind: 'remote' | 'here' | 'standard';
  /** As the file system takes it: on this machine absolute. Empty for standard input and output. */
  path: string;
  /** As it was given. */
  shown: string;
}

/**
 * Reads a word: `:PATH`, `-`, or a path of this machine. Nothing in a path is normalised: `a/..` may lead through a link.
 * @param directory where paths of this machine begin
 */
export function readOperand(word: string, directory: string): Operand {
  if (word === '-') return { kind: 'standard', path: '', shown: word };
  if (word.startsWith(':')) return { kind: 'remote', path: word.slice(1) || '.', shown: word };
  return { kind: 'here', path: word.startsWith('/') || word === '' ? word : below(directory, word), shown: word };
}

/** What the copy of a source is called in a directory. What has no name of its own gives its content: `.`. */
export function nameOf({ path }: Operand): string {
  const name = path.split('/').findLast((part) => part !== '') ?? '.';
  return name === '..' ? '.' : name;
}

/** A name in the directory that an operand is. */
export function within(directory: Operand, name: string): Operand {
  return { ...directory, path: below(directory.path, name), shown: below(directory.shown === ':' ? ':.' : directory.shown, name) };
}

/** Whether it is said to be a directory by a slash at its end. */
export const saysDirectory = ({ path }: Operand): boolean => path.endsWith('/');

/** The permission bits that a copy keeps: set-id bits would hand out the rights of whoever writes. */
export const keptMode = ({ mode }: FileMetadata): number => mode & 0o1777;

const below = (directory: string, name: string) => (directory.endsWith('/') ? directory + name : `${directory}/${name}`);

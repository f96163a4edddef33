import { type ExecutorFileSystem, type FilePath, GatewayError } from '../protocol/index.js';
import { bytesOf, pathOf } from './file-uri.js';

/** Links on the way of one path, as many as the system follows. */
const MOST_LINKS = 40;

/** A path without links. */
export interface RealPath {
  path: Buffer;
  /** Whether a link was on the way. */
  through_link: boolean;
}

/**
 * Follows every link on the way of an absolute path, and at its end.
 * @throws {GatewayError} `path_not_found` and what else stands in the way; `symlink_loop`
 */
export async function realPath(files: ExecutorFileSystem, path: FilePath, signal: AbortSignal): Promise<RealPath> {
  let names = namesOf(bytesOf(path));
  let done: Buffer[] = [];
  let links = 0;
  while (names.length > 0) {
    const name = names.shift() as Buffer;
    if (name.equals(UP)) {
      done.pop();
      continue;
    }
    const text = await linkText(files, joined([...done, name]), names.length === 0, signal);
    if (text === null) {
      done.push(name);
      continue;
    }
    if (++links > MOST_LINKS) throw new GatewayError('symlink_loop', `${bytesOf(path)} leads through too many symbolic links (ELOOP).`);
    names = [...namesOf(text), ...names];
    if (text[0] === SLASH) done = [];
  }
  if (done.length === 0) await files.getMetadata({ path: '/' }, { signal });
  return { path: joined(done), through_link: links > 0 };
}

/** The text of a link, or null for what is none. */
async function linkText(files: ExecutorFileSystem, path: Buffer, last: boolean, signal: AbortSignal): Promise<Buffer | null> {
  try {
    const { type, target, target_base64 } = await files.getMetadata(pathOf(path), { signal });
    if (type !== 'symlink') return notMoreThan(type, last, path);
    return target_base64 === null ? Buffer.from(target ?? '', 'utf8') : Buffer.from(target_base64, 'base64');
  } catch (error) {
    // What is above the file root is not to be looked at; what is below it is judged by itself.
    if (!last && error instanceof GatewayError && error.code === 'path_outside_root') return null;
    throw error;
  }
}

function notMoreThan(type: string, last: boolean, path: Buffer): null {
  if (last || type === 'directory') return null;
  throw new GatewayError('not_a_directory', `${path} is not a directory (ENOTDIR).`);
}

const SLASH = 0x2f;
const UP = Buffer.from('..');

function namesOf(path: Buffer): Buffer[] {
  const names = path.toString('latin1').split('/');
  return names.filter((name) => name !== '' && name !== '.').map((name) => Buffer.from(name, 'latin1'));
}

const joined = (names: Buffer[]): Buffer =>
  Buffer.concat(names.length === 0 ? [Buffer.from('/')] : names.flatMap((name) => [Buffer.from('/'), name]));

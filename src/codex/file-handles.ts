import { type ExecutorFileSystem, type FilePath, type FileType, GatewayError } from '../protocol/index.js';
import { openFile, wholeContent } from './content.js';
import { bytesOf } from './file-uri.js';
import type { FileAccess } from './machine.js';
import { realPath } from './real-path.js';
import { invalidRequest, RPC, RpcError } from './rpc-error.js';
import { Spool } from './spool.js';

/** Open files of one connection. */
const MOST_HANDLES = 128;

/** How far beyond its end a file may be written, in bytes: what is between is zeros, and takes room. */
const MOST_HOLE_BYTES = 64 * 1024 * 1024;

type Handle = { path: FilePath; access: FileAccess } & ({ mode: 'read'; created_at: string | null } | { mode: 'replace'; spool: Spool });

/** The open files of one connection. What is written takes the place of the file when it is closed, whole; without a close it never does. */
export class FileHandles {
  readonly #max_file_bytes: number | null;
  readonly #handles = new Map<string, Promise<Handle>>();
  #open = true;

  constructor(max_file_bytes: number | null) {
    this.#max_file_bytes = max_file_bytes;
  }

  /** @throws {RpcError} for an id that is taken, too many, and what cannot be opened */
  async open(id: string, path: FilePath, mode: 'read' | 'replace', access: FileAccess, signal: AbortSignal): Promise<void> {
    if (this.#handles.has(id)) throw invalidRequest(`file handle \`${id}\` already exists`);
    if (this.#handles.size >= MOST_HANDLES) throw invalidRequest(`too many open file handles: limit is ${MOST_HANDLES}`);
    const opened = mode === 'read' ? this.#openRead(path, access, signal) : this.#openReplace(path, access, signal);
    this.#handles.set(id, opened);
    try {
      const handle = await opened;
      if (!this.#open && handle.mode === 'replace') await handle.spool.close();
    } catch (error) {
      if (this.#handles.get(id) === opened) this.#handles.delete(id);
      throw error;
    }
  }

  /** Up to `length` bytes from `offset` on, and whether they are the last. */
  async read(id: string, offset: number, length: number, signal: AbortSignal): Promise<{ bytes: Buffer; eof: boolean }> {
    const handle = await this.#get(id);
    if (handle.mode !== 'read') throw badDescriptor('it is open for writing');
    try {
      return await handle.access((files) => readBlock(files, handle, offset, length, signal));
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'range_not_satisfiable') return { bytes: Buffer.alloc(0), eof: true };
      throw error;
    }
  }

  /** Keeps bytes for the file; blocks are taken in the order of their arrival. */
  async write(id: string, offset: number, bytes: Buffer): Promise<void> {
    const handle = await this.#get(id);
    if (handle.mode !== 'replace') throw badDescriptor('it is open for reading');
    const end = offset + bytes.length;
    const limit = this.#max_file_bytes;
    if (limit !== null && end > limit) throw invalidRequest(`the file would have ${end} bytes, and the limit of this gateway is ${limit}`);
    if (offset > handle.spool.size + MOST_HOLE_BYTES)
      throw invalidRequest(`offset ${offset} would leave a hole of more than ${MOST_HOLE_BYTES} bytes`);
    await handle.spool.write(offset, bytes);
  }

  /** Closes one; an unknown one is closed already. What was written to it becomes the file. */
  async closeHandle(id: string, signal: AbortSignal): Promise<void> {
    const opened = this.#handles.get(id);
    this.#handles.delete(id);
    const handle = await opened?.catch(() => undefined);
    if (handle?.mode !== 'replace') return;
    try {
      await handle.access((files) => files.writeFile(handle.path, handle.spool.content(), { signal }));
    } finally {
      await handle.spool.close();
    }
  }

  /** Lets go of all; what was not closed is dropped. */
  close(): void {
    this.#open = false;
    for (const opened of this.#handles.values()) {
      opened.then((handle) => (handle.mode === 'replace' ? handle.spool.close() : undefined)).catch(() => {});
    }
    this.#handles.clear();
  }

  async #get(id: string): Promise<Handle> {
    const handle = await this.#handles.get(id)?.catch(() => undefined);
    if (handle) return handle;
    throw new RpcError(RPC.NOT_FOUND, `unknown file handle \`${id}\``);
  }

  async #openRead(path: FilePath, access: FileAccess, signal: AbortSignal): Promise<Handle> {
    const content = await access(async (files) => {
      const opened = await openFile(() => files.readFile(path, { signal }), path);
      await opened.close();
      return opened;
    });
    return { mode: 'read', path, access, created_at: content.metadata.created_at };
  }

  /** Refuses at once what could not be put in place at the end. */
  async #openReplace(path: FilePath, access: FileAccess, signal: AbortSignal): Promise<Handle> {
    const type = await access((files) => typeToReplace(files, path, signal));
    if (type !== 'file') throw type === 'directory' ? isDirectory() : invalidRequest(`path \`${bytesOf(path)}\` is not a file`);
    return { mode: 'replace', path, access, spool: await Spool.open() };
  }
}

async function readBlock(
  files: ExecutorFileSystem,
  { path, created_at }: { path: FilePath; created_at: string | null },
  offset: number,
  length: number,
  signal: AbortSignal,
): Promise<{ bytes: Buffer; eof: boolean }> {
  const content = await files.readFile(path, { offset, length, signal });
  if (content.metadata.created_at !== created_at) {
    await content.close();
    throw new RpcError(RPC.INTERNAL, 'another file has taken the place of this one since it was opened');
  }
  const size = content.length === null ? null : content.metadata.size_bytes;
  const bytes = (await wholeContent(content)).subarray(0, length);
  return { bytes, eof: size === null ? bytes.length < length : offset + bytes.length >= size };
}

/** What a write would replace. A new file needs a directory to be in. */
async function typeToReplace(files: ExecutorFileSystem, path: FilePath, signal: AbortSignal): Promise<FileType> {
  try {
    return (await files.getMetadata(path, { follow_symlinks: true, signal })).type;
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'path_not_found') throw error;
  }
  const bytes = bytesOf(path);
  const above = bytes.subarray(0, Math.max(1, bytes.lastIndexOf(0x2f)));
  await realPath(files, above.length === 0 ? { path: '/' } : { path_base64: above.toString('base64') }, signal);
  return 'file';
}

const badDescriptor = (why: string): RpcError => new RpcError(RPC.INTERNAL, `Bad file descriptor: ${why}`);
const isDirectory = (): RpcError => new RpcError(RPC.INTERNAL, 'Is a directory');

import type { BigIntStats } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { type Copied, GatewayError } from '../protocol/index.js';
import { copyFileTo, copyLinkTo } from './copy-file.js';
import { TreeCopy } from './copy-tree.js';
import { Descent } from './descent.js';
import type { FileRoot } from './file-root.js';
import { type Held, identityOf } from './held-directory.js';
import type { NameLock } from './name-lock.js';
import type { Place } from './place.js';
import { removeTree } from './remove-tree.js';
import { TemporaryName } from './temporary-name.js';
import { isWithin, refuseMismatch } from './transfer-check.js';
import { walkTree } from './tree-walk.js';

/** What a copy or a move is to do. */
export interface Transfer {
  source: Place;
  destination: Place;
  recursive: boolean;
  overwrite: boolean;
  root: FileRoot;
  locks: NameLock;
  signal: AbortSignal | undefined;
}

/**
 * Copies a file, link or tree. What is new appears whole or not at all: it is made under another name beside its destination. A
 * tree that is merged into a directory lands file by file. Nothing is flushed to the disk.
 * @throws {GatewayError} `path_exists`, `is_a_directory`, `not_a_directory`, `not_regular_file`, `copy_into_itself`, and what the system says
 */
export async function copyEntry(transfer: Transfer): Promise<Copied> {
  const { source, destination, recursive } = transfer;
  const { held, stats } = await source.hold();
  try {
    if (stats.isDirectory() && !recursive)
      throw new GatewayError('is_a_directory', 'The source is a directory: set recursive to copy all it holds.');
    if (!stats.isDirectory() && !stats.isFile() && !stats.isSymbolicLink()) {
      throw new GatewayError('not_regular_file', 'The source is a fifo, socket or device, and is not copied.');
    }
    const there = await destination.peek();
    refuseMismatch(stats, there, transfer);
    if (there && identityOf(there) === identityOf(stats))
      throw new GatewayError('copy_into_itself', 'Source and destination are the same.');
    if (!stats.isDirectory()) return await copyOne(transfer, held, stats);
    if (await isWithin(destination.directory, stats)) throw new GatewayError('copy_into_itself', 'The destination is in the source.');
    return there ? await fillTree(transfer, destination.name, null) : await newTree(transfer, Number(stats.mode & 0o7777n));
  } finally {
    held.close();
  }
}

async function copyOne({ source, destination, overwrite, locks, signal }: Transfer, held: Held, stats: BigIntStats): Promise<Copied> {
  const { directory, name } = destination;
  const temporary = new TemporaryName(directory, name);
  let bytes = 0;
  try {
    if (stats.isFile()) bytes = await copyFileTo(temporary, held, stats, signal);
    else await copyLinkTo(temporary, source.path);
    await locks.hold(identityOf(await directory.stat()), name, () => (overwrite ? temporary.replace() : temporary.takeNew()));
  } finally {
    await temporary.dispose();
  }
  return { files: 1, directories: 0, bytes, skipped: [] };
}

async function newTree(transfer: Transfer, mode: number): Promise<Copied> {
  const { directory, name } = transfer.destination;
  const temporary = new TemporaryName(directory, name);
  await mkdir(temporary.path, 0o700);
  try {
    const copied = await fillTree(transfer, temporary.name, mode);
    transfer.signal?.throwIfAborted();
    await temporary.takeNew(true);
    return { ...copied, directories: copied.directories + 1 };
  } catch (error) {
    await removeTree(directory, temporary.name, { rootIdentity: await transfer.root.identity(), ours: true });
    throw error;
  }
}

async function fillTree({ source, destination, locks, signal }: Transfer, name: Buffer, mode: number | null): Promise<Copied> {
  const from = await Descent.into(source.directory, source.name);
  try {
    const to = await Descent.into(destination.directory, name);
    try {
      const copy = new TreeCopy(from, to, locks, signal);
      await walkTree(source.name, { mode }, copy);
      return copy.copied;
    } finally {
      to.close();
    }
  } finally {
    from.close();
  }
}

import type { Files } from '../client/files.js';
import { retrySettings } from '../client/retry.js';
import { uploadInParts } from '../client/upload-in-parts.js';
import { type FileMetadata, GatewayError } from '../protocol/index.js';
import { at, bytesAt, CopyFailure, unreadableFailure } from './copy-failure.js';
import type { CopyProgress } from './copy-progress.js';
import type { Tally } from './copy-tally.js';
import { keptMode, nameOf, type Operand, saysDirectory, within } from './operand.js';
import type { StandardStreams } from './standard-streams.js';

/** A file this large is sent in parts, so that a line that breaks does not begin it anew, in bytes. */
const IN_PARTS_BYTES = 16 * 1024 * 1024;

/** What a copy is made with, and how. */
export interface CopyOrder {
  /** The file systems of paths of either kind; `to` those of the destination. */
  from: Record<'here' | 'remote', Files>;
  to: Record<'here' | 'remote', Files>;
  standard: StandardStreams;
  recursive: boolean;
  parents: boolean;
  /** Whether the destination has to be a directory: it takes several. */
  several: boolean;
  progress: CopyProgress;
  signal: AbortSignal;
  /** Told of each thing in a tree that could not be copied, while the rest was. */
  fail(failure: CopyFailure): void;
}

/** A source that is there. */
interface Source {
  operand: Operand;
  files: Files;
  metadata: FileMetadata;
}

/** Copies one thing after another; what fails rejects with a `CopyFailure`, or with the signal's reason. */
export class Copier {
  readonly #order: CopyOrder;

  constructor(order: CopyOrder) {
    this.#order = order;
  }

  async copy(operand: Operand, destination: Operand): Promise<Tally> {
    const { from, to, recursive, signal, progress } = this.#order;
    if (operand.kind === 'standard') return await this.#fromStandard(operand, destination);
    const files = from[operand.kind];
    const metadata = await at(operand, files.metadata(operand.path, { follow_symlinks: true, signal }));
    const source = { operand, files, metadata };
    const isDirectory = metadata.type === 'directory';
    if (isDirectory && !recursive) {
      throw new CopyFailure(operand, 'is_a_directory', 'it is a directory: give -r to copy it with all it holds.');
    }
    progress.begin(operand.shown, isDirectory ? null : metadata.size_bytes);
    if (destination.kind === 'standard') return await this.#toStandard(source, destination);
    const target = await this.#target(source, destination);
    if (files === to[destination.kind] && (await this.#isDirect(source, target))) return await this.#onGateway(source, target);
    return isDirectory ? await this.#tree(source, target) : await this.#file(source, target);
  }

  /** Where a source goes: to the destination itself, or below its own name into the directory that is there. */
  async #target({ operand, metadata }: Source, destination: Operand): Promise<Operand> {
    const { parents, several } = this.#order;
    const there = await this.#look(destination);
    if (there?.type === 'directory') return within(destination, nameOf(operand));
    const must = several || (saysDirectory(destination) && metadata.type !== 'directory');
    if (there !== null && (must || saysDirectory(destination)))
      throw new CopyFailure(destination, 'not_a_directory', 'it is no directory, and has to be one.');
    if (!must) return destination;
    if (parents) return within(destination, nameOf(operand));
    throw new CopyFailure(destination, 'path_not_found', 'there is no such directory.');
  }

  /** What is at a destination, links followed; null when nothing is. */
  async #look(operand: Operand): Promise<FileMetadata | null> {
    const { signal } = this.#order;
    return await at(
      operand,
      this.#to(operand)
        .metadata(operand.path, { follow_symlinks: true, signal })
        .catch((error) => {
          if (error instanceof GatewayError && error.code === 'path_not_found') return null;
          throw error;
        }),
    );
  }

  /** Whether a gateway can do it by itself with the same outcome: it would copy a link, and replace one, not follow it. */
  async #isDirect({ operand, files }: Source, target: Operand): Promise<boolean> {
    const { parents, signal } = this.#order;
    if (parents) return false;
    const isLink = async ({ path }: Operand) => {
      const metadata = await files.metadata(path, { signal }).catch(() => null);
      return metadata?.type === 'symlink';
    };
    return !(await isLink(operand)) && !(await isLink(target));
  }

  async #onGateway({ operand, files }: Source, target: Operand): Promise<Tally> {
    const { recursive, signal } = this.#order;
    const copied = await at(operand, files.copy(operand.path, target.path, { recursive, overwrite: true, signal }));
    return { ...copied, links: 0 };
  }

  async #file({ operand, files, metadata }: Source, target: Operand): Promise<Tally> {
    const { parents, signal } = this.#order;
    const { size_bytes, etag } = metadata;
    const options = { mode: keptMode(metadata), create_parents: parents, signal };
    const to = this.#to(target);
    if (target.kind === 'remote' && size_bytes >= IN_PARTS_BYTES && etag !== null) {
      const read = (offset: number, length: number) =>
        this.#metered(operand, files.read(operand.path, { offset, length, if_match: etag, signal }), offset);
      await at(target, uploadInParts(to.system, { path: target.path }, { size_bytes, read }, options, retrySettings()));
      return { files: 1, directories: 0, links: 0, bytes: size_bytes };
    }
    const stored = await at(target, to.write(target.path, this.#metered(operand, files.read(operand.path, { signal })), options));
    return { files: 1, directories: 0, links: 0, bytes: stored.metadata.size_bytes };
  }

  async #tree({ operand, files, metadata }: Source, target: Operand): Promise<Tally> {
    const { parents, signal } = this.#order;
    const to = this.#to(target);
    const tar = this.#metered(
      operand,
      await at(operand, files.system.readArchive({ path: operand.path }, { skip_unreadable: true, signal })),
    );
    const there = await this.#look(target);
    // The tar does not tell of the directory itself. Whoever fills it has to get in.
    const mode = keptMode(metadata) | 0o700;
    if (there === null) await at(target, to.createDirectory(target.path.replace(/\/+$/, ''), { mode, recursive: parents, signal }));
    const { unreadable = [], ...unpacked } = await at(
      target,
      to.system.writeArchive({ path: target.path }, tar, { any_links: true, signal }),
    );
    for (const { path, code } of unreadable) this.#order.fail(unreadableFailure(operand, path, code));
    return { ...unpacked, directories: unpacked.directories + (there === null ? 1 : 0) };
  }

  async #fromStandard(operand: Operand, target: Operand): Promise<Tally> {
    const { parents, recursive, standard, progress, signal } = this.#order;
    const to = this.#to(target);
    progress.begin('standard input', null);
    const body = this.#metered(operand, standard.read(signal));
    if (recursive) {
      const options = { create_parents: parents, any_links: true, signal };
      return await at(target, to.system.writeArchive({ path: target.path }, body, options));
    }
    const stored = await at(target, to.write(target.path, body, { create_parents: parents, signal }));
    return { files: 1, directories: 0, links: 0, bytes: stored.metadata.size_bytes };
  }

  async #toStandard({ operand, files, metadata }: Source, destination: Operand): Promise<Tally> {
    const { standard, signal } = this.#order;
    const { path } = operand;
    const isDirectory = metadata.type === 'directory';
    const body = isDirectory ? await at(operand, files.system.readArchive({ path }, { signal })) : files.read(path, { signal });
    const bytes = await at(destination, standard.write(this.#metered(operand, body), signal));
    return { files: 1, directories: 0, links: 0, bytes };
  }

  #metered(operand: Operand, body: AsyncIterable<Uint8Array>, offset?: number): AsyncIterable<Uint8Array> {
    return this.#order.progress.watch(bytesAt(operand, body), offset);
  }

  #to({ kind }: Operand): Files {
    return this.#order.to[kind === 'here' ? 'here' : 'remote'];
  }
}

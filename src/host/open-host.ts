import { type DataDirectory, DataDirectoryError } from './data-directory.js';
import { FileLock } from './file-lock.js';
import { findOrStartHost } from './find-host.js';
import { HostLink } from './host-link.js';
import { HOST_PROTOCOL, type HostedTranscripts, type HostSettings } from './words.js';

/** What a gateway tells of itself, and of what it wants. */
export interface FrontOptions {
  version: string;
  settings: HostSettings;
  /** Hold for a host that is started, not for one that is found. */
  transcripts: HostedTranscripts;
  /** Told in a line when the host was lost, and when there is one again. */
  log(message: string): void;
}

/**
 * Takes a data directory for this program, as the only gateway on it, and its host: the one that is there, or a new one.
 * @throws {DataDirectoryError}
 */
export async function openHost(directory: DataDirectory, { version, settings, transcripts, log }: FrontOptions): Promise<HostLink> {
  const lock = await takeLock(directory);
  const greeting = { protocol: HOST_PROTOCOL, version, pid: process.pid, settings };
  const begin = () => findOrStartHost(directory, greeting, transcripts);
  try {
    return new HostLink(await begin(), begin, log);
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function takeLock(directory: DataDirectory): Promise<FileLock> {
  const lock = await FileLock.wait(directory.front_lock);
  if (lock) return lock;
  const holder = FileLock.holder(directory.front_lock);
  throw new DataDirectoryError(`${directory.path} is in use by another gateway (pid ${holder}): end that first, or give another one.`);
}

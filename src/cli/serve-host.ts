import { realpathSync } from 'node:fs';
import { DataDirectory, DataDirectoryError } from '../host/data-directory.js';
import type { HostLink } from '../host/host-link.js';
import { openHost } from '../host/open-host.js';
import type { HostLimits } from '../host/words.js';
import { checkForm, inheritedEnv } from '../process-host.js';
import { GatewayError } from '../protocol/index.js';
import { logStream } from '../standard-stream.js';
import type { ServeOptions } from './serve-options.js';
import { SettingError } from './token.js';
import { VERSION } from './version.js';

/** The data directory of a gateway, and the host of its processes. */
export interface ServedHost {
  directory: DataDirectory;
  link: HostLink;
}

/**
 * Takes the data directory that the settings name, and its host; undefined when they name none.
 * @throws {SettingError}
 */
export async function serveHost(options: ServeOptions, limits: HostLimits): Promise<ServedHost | undefined> {
  const { dataDir, upstream, fsRoot = '/', confineCwd } = options;
  if (dataDir === undefined) return undefined;
  if (upstream !== undefined) {
    throw new SettingError('--data-dir is for processes of this machine: give it to the gateway at --upstream.');
  }
  return settled(async () => {
    const directory = DataDirectory.make(dataDir);
    checkForm(directory); // the host would say so too, in its log
    const settings = { limits, cwd: process.cwd(), env: inheritedEnv(), cwd_root: confineCwd ? realpathSync(fsRoot) : null };
    const out = logStream();
    const log = (message: string) => void out.write(`exec-gateway serve: ${message}\n`);
    const transcripts = { transcript_bytes: options.transcriptBytes, transcript_total_bytes: options.transcriptTotalBytes };
    return { directory, link: await openHost(directory, { version: VERSION, settings, transcripts, log }) };
  });
}

/** Makes what is wrong with a data directory a setting that cannot be used. */
export async function settled<T>(act: () => T | Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    const unusable = error instanceof DataDirectoryError || (error instanceof GatewayError && error.fields.field === 'data_dir');
    throw unusable ? new SettingError(`--data-dir: ${(error as Error).message}`, { cause: error }) : error;
  }
}

import { DataDirectory } from '../host/data-directory.js';
import { FileLock } from '../host/file-lock.js';
import { findHost } from '../host/find-host.js';
import type { FrontConnection } from '../host/front-connection.js';
import { HOST_PROTOCOL, type HostStatus } from '../host/words.js';
import { sizeText } from './copy-tally.js';
import { durationText } from './duration.js';
import type { StatusOptions } from './host-options.js';
import { settled } from './serve-host.js';
import { VERSION } from './version.js';

/**
 * Tells of the host of a data directory.
 * @throws {SettingError}
 */
export async function status({ dataDir, json }: StatusOptions): Promise<void> {
  const directory = await settled(() => DataDirectory.open(dataDir));
  const found = await hostStatus(directory);
  const told = { data_dir: directory.path, host: found, front_pid: found?.front?.pid ?? FileLock.holder(directory.front_lock) };
  process.stdout.write(json ? `${JSON.stringify(told)}\n` : lines(directory.path, found));
  process.exitCode = found === null ? 1 : 0;
}

/** Connects to a host only to ask it; null when none answers. */
export function visitHost(directory: DataDirectory): Promise<FrontConnection | null> {
  return findHost(directory, { protocol: HOST_PROTOCOL, version: VERSION, pid: process.pid, settings: null });
}

/** The state of a host; null when none answers. */
export async function hostStatus(directory: DataDirectory): Promise<HostStatus | null> {
  const connection = await visitHost(directory);
  if (connection === null) return null;
  try {
    return await connection.call<HostStatus>({ call: 'status' });
  } finally {
    connection.close();
  }
}

function lines(path: string, host: HostStatus | null): string {
  if (host === null) return `no process host runs for ${path}\n`;
  const { pid, version, protocol, front, draining, stats, started_at, resident_bytes } = host;
  const rows = [
    ['data directory', path],
    ['host', `pid ${pid}, version ${version}, protocol ${protocol}, for ${durationText(Date.now() - Date.parse(started_at))}`],
    ['gateway', front === null ? 'none' : `pid ${front.pid}, version ${front.version}`],
    ['processes', `${stats.running} running, ${stats.retained} ended and still readable${draining ? '; draining' : ''}`],
    ['memory', `${sizeText(resident_bytes)}, ${sizeText(stats.retained_bytes)} of it output`],
  ];
  return rows.map(([name, text]) => `${name?.padEnd(16)}${text}\n`).join('');
}

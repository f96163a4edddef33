import { chmodSync, lstatSync, readdirSync, type Stats, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type DataDirectory, modeText, ownershipProblem } from './data-directory.js';
import { FileLock } from './file-lock.js';
import { HOST_PROTOCOL, type HostStatus } from './words.js';

/** What a check found wrong. */
interface Finding {
  what: string;
  /** Puts it right; null where a person has to, who is told how in `what`. */
  repair: (() => void) | null;
}

/** What is known of a data directory before it is checked. */
interface Checked {
  directory: DataDirectory;
  /** Its host; null when none answers. */
  host: HostStatus | null;
}

/** One thing that can be wrong with a data directory. */
export interface DirectoryCheck {
  name: string;
  find(checked: Checked): Finding[];
}

/** All checks, in the order in which they are made: what is kept in the directory adds its own. */
export const DIRECTORY_CHECKS: DirectoryCheck[] = [
  { name: 'owner and modes', find: ({ directory }) => entries(directory).flatMap(entryFindings) },
  { name: 'socket', find: socketFindings },
  { name: 'locks', find: lockFindings },
  { name: 'version', find: versionFindings },
];

/** An entry and what the system says of it. */
type Entry = [path: string, stats: Stats];

/** The directory itself and what is in it. */
function entries({ path }: DataDirectory): Entry[] {
  const all = [path, ...readdirSync(path).map((name) => join(path, name))];
  return all.flatMap((entry): Entry[] => {
    const stats = lstatSync(entry, { throwIfNoEntry: false });
    return stats === undefined ? [] : [[entry, stats]]; // it may be gone by now
  });
}

function entryFindings([path, stats]: Entry): Finding[] {
  if (stats.isDirectory()) {
    const problem = ownershipProblem(path, stats);
    return problem === null ? [] : [{ what: problem, repair: null }];
  }
  if (stats.uid !== process.geteuid?.()) return [{ what: `${path} belongs to another user (uid ${stats.uid}): chown it.`, repair: null }];
  if (stats.isSymbolicLink() || (stats.mode & 0o077) === 0) return [];
  return [{ what: `${path} is open to other users (mode ${modeText(stats)}).`, repair: () => chmodSync(path, 0o600) }];
}

function socketFindings({ directory, host }: Checked): Finding[] {
  const there = lstatSync(directory.socket, { throwIfNoEntry: false }) !== undefined;
  const holder = FileLock.holder(directory.host_lock);
  if (host === null && holder !== null) {
    return [{ what: `The host (pid ${holder}) does not answer: look at ${directory.log}, and end it by kill -9 ${holder}.`, repair: null }];
  }
  if (!there || host !== null) return [];
  return [{ what: `${directory.socket} was left behind by a host that was killed.`, repair: () => unlinkSync(directory.socket) }];
}

function lockFindings({ directory, host }: Checked): Finding[] {
  if (host === null) return [];
  const holder = FileLock.holder(directory.host_lock);
  if (holder === host.pid) return [];
  const said = holder === null ? 'nobody holds' : `pid ${holder} holds`;
  return [{ what: `A host (pid ${host.pid}) answers, but ${said} ${directory.host_lock}: was it removed? Drain that host.`, repair: null }];
}

function versionFindings({ host }: Checked): Finding[] {
  if (host === null || host.protocol === HOST_PROTOCOL) return [];
  const { version, pid, protocol } = host;
  return [
    {
      what: `The host (pid ${pid}, version ${version}) speaks protocol ${protocol}, this version ${HOST_PROTOCOL}: drain it before this version is used.`,
      repair: null,
    },
  ];
}

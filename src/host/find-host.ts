import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { OWN_PROGRAM } from '../process/own-program.js';
import { type DataDirectory, DataDirectoryError } from './data-directory.js';
import { FrontConnection } from './front-connection.js';
import { type Greeting, HOST_PROTOCOL, type HostedTranscripts } from './words.js';

/** Time in which a host has to be ready, in milliseconds. */
const HOST_START_MS = 20_000;

/** Size from which on a log is put aside when a host starts, in bytes. */
const MOST_LOG_BYTES = 4 * 1024 * 1024;

/** Settings of the gateway, its token among them: none of the host's business. */
const OWN = /^EXEC_GATEWAY_(?!LAUNCHER$)/;

/** Time in which a host has to answer a greeting, in milliseconds: one that was stopped never does. */
const MOST_GREETING_MS = 10_000;

/** The host of a directory; null when none answers, within 10 s. */
export async function findHost(directory: DataDirectory, greeting: Greeting): Promise<FrontConnection | null> {
  const signal = AbortSignal.timeout(MOST_GREETING_MS);
  return FrontConnection.open(directory.socket, greeting, signal).catch(() => null);
}

/**
 * The host of a directory, started where there is none.
 * @throws {DataDirectoryError} when it does not start, or speaks another protocol than this program
 */
export async function findOrStartHost(
  directory: DataDirectory,
  greeting: Greeting,
  transcripts: HostedTranscripts,
): Promise<FrontConnection> {
  const found = await findHost(directory, greeting);
  if (found) return spoken(directory, found);
  await startHost(directory, transcripts);
  const started = await findHost(directory, greeting);
  if (started) return spoken(directory, started);
  throw notStarted(directory, 'does not answer');
}

function spoken(directory: DataDirectory, connection: FrontConnection): FrontConnection {
  const { protocol, version, pid } = connection.welcome;
  if (protocol === HOST_PROTOCOL) return connection;
  connection.close();
  throw new DataDirectoryError(
    `${directory.path} has a process host of version ${version} (pid ${pid}) with which this version cannot speak: go on with that version, or end it with its processes by exec-gateway drain --data-dir ${directory.path}.`,
  );
}

/** Resolves when it listens. It is in a session of its own, so that nothing which ends this program reaches it. */
function startHost(directory: DataDirectory, { transcript_bytes, transcript_total_bytes }: HostedTranscripts): Promise<void> {
  const kept = ['--transcript-bytes', String(transcript_bytes), '--transcript-total-bytes', String(transcript_total_bytes)];
  const log = openLog(directory.log);
  try {
    const child = spawn(process.execPath, [OWN_PROGRAM, 'host', '--data-dir', directory.path, ...kept], {
      detached: true,
      env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !OWN.test(name))),
      stdio: ['ignore', log, log, 'ipc'],
    });
    return new Promise((resolve, reject) => {
      const fail = (why: string) => {
        clearTimeout(overdue);
        reject(notStarted(directory, why));
      };
      const overdue = setTimeout(() => fail(`was not ready after ${HOST_START_MS} ms`), HOST_START_MS);
      child.once('error', (error) => fail(`could not be started (${error.message})`));
      child.once('exit', (code, signal) => fail(`ended with ${signal ?? code} before it was ready`));
      child.once('message', () => {
        clearTimeout(overdue);
        child.removeAllListeners('exit');
        child.disconnect();
        child.unref();
        resolve();
      });
    });
  } finally {
    closeSync(log);
  }
}

function openLog(path: string): number {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > MOST_LOG_BYTES) renameSync(path, `${path}.1`);
  return openSync(path, 'a', 0o600);
}

function notStarted({ log }: DataDirectory, why: string): DataDirectoryError {
  const [last = ''] = readFileSync(log, 'utf8').trimEnd().split('\n').slice(-1);
  return new DataDirectoryError(`The process host ${why}; ${log} may say more${last && `, at its end: ${last.slice(0, 300)}`}`);
}

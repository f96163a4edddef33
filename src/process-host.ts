import { Environment } from './environment.js';
import { type DataDirectory, DataDirectoryError } from './host/data-directory.js';
import { FileLock } from './host/file-lock.js';
import { HostServer } from './host/host-server.js';
import type { HostedTranscripts, HostSettings } from './host/words.js';
import { isOwnVariable } from './process/child-env.js';
import { openDataDirectory } from './process/transcript/data-directory.js';
import { loadXTerm } from './process/xterm.js';
import { DEFAULT_GRACE_MS } from './protocol/index.js';
import { logStream } from './standard-stream.js';

/** How long a host lives without a gateway, and with nothing to tell one, in milliseconds: longer than a restart takes. */
const IDLE_MS = 60_000;

/** What is needed later is loaded so long after the start, in milliseconds: by then the first calls are answered. */
const LOAD_MS = 2_000;

/**
 * Runs the host of a data directory: it holds processes, their pipes and their terminals, and nothing else, so that it has no reason
 * to end with the gateway. It listens when this resolves, and ends by SIGTERM, by a drain, or when nobody needs it any more.
 * @throws {DataDirectoryError} when another host holds the directory
 */
export async function runProcessHost(directory: DataDirectory, version: string, transcripts: HostedTranscripts): Promise<void> {
  if ((await FileLock.wait(directory.host_lock)) === null) throw new DataDirectoryError(`A host of ${directory.path} runs already.`);
  const out = logStream(); // a file on the disk of the directory, which may be full
  const log = (error: unknown) => void out.write(`${new Date().toISOString()} ${error instanceof Error ? error.stack : error}\n`);
  const tellTrouble = (what: string, error?: Error) => log(error ? `${what} (${error.message})` : what);
  const environment = Environment.create({ data_dir: directory.path, hide: [directory.path], transcripts, tellTrouble });
  const server = new HostServer(machineOf(environment), {
    version,
    idle_ms: IDLE_MS,
    log,
    ended: () => setImmediate(() => process.exit(0)),
  });
  // It has no terminal of its own; what ends the gateway's is none of its business.
  process.on('SIGHUP', () => {}).on('SIGINT', () => {});
  process.once('SIGTERM', () => void server.close(DEFAULT_GRACE_MS));
  await server.listen(directory.socket);
  setTimeout(() => loadLate(log), LOAD_MS).unref();
}

/** An upgrade replaces the files of the package under a host that goes on. */
function loadLate(log: (error: unknown) => void): void {
  try {
    loadXTerm();
  } catch (error) {
    log(error); // screens cannot be shown; all else can
  }
}

/**
 * Looks whether what is in a directory can be read by this version, before anything is started for it.
 * @throws {GatewayError} `invalid_argument`, whose field is `data_dir`
 */
export function checkForm({ path }: DataDirectory): void {
  openDataDirectory(path);
}

/** What programs inherit from: all but what is the gateway's own. */
export function inheritedEnv(): Record<string, string> {
  const all = Object.entries(process.env) as [string, string][];
  return Object.fromEntries(all.filter(([name]) => !isOwnVariable(name)));
}

function machineOf(environment: Environment) {
  return {
    process: environment.process,
    startSandboxed: (...asked: Parameters<NonNullable<Environment['sandbox']>['start']>) => {
      if (environment.sandbox === null) throw new Error('The host has no sandboxes.');
      return environment.sandbox.start(...asked);
    },
    stats: () => environment.stats(),
    configure(settings: HostSettings) {
      process.chdir(settings.cwd);
      environment.configure(settings);
    },
    drain: () => environment.drain(),
    close: (grace_ms: number) => environment.close(grace_ms),
  };
}

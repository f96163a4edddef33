import { basename } from 'node:path/posix';
import type { ExecProcess } from '../protocol/index.js';
import { fileUri } from './file-uri.js';

/** The version of Codex whose protocol this is. */
const PROTOCOL_VERSION = '0.171.0';

/** Shells whose command lines clients know how to write. */
const SHELLS = ['bash', 'zsh', 'sh'];

/** Tells, one a line: the user's shell, another one, where processes begin, the home, where temporary files go if it is said, the system. */
const SCRIPT = 'printf "%s\\n" "$SHELL" "$(command -v bash || command -v sh)" "$PWD" "$HOME" "$TMPDIR" "$(uname -s)"';

/** Nothing that would have to be done otherwise is claimed: clients then do without. */
const CAPABILITIES = {
  networkProxyLaunch: false,
  networkProxyReviewDomains: false,
  networkProxyTransparentTcp: false,
  credentialMasking: false,
  credentialMaskingCustomProviders: false,
  capabilityDiscoverySandbox: false,
  fsWatchMissing: true,
  capabilityDiscoveryV2: false,
  environmentConfigRead: false,
  httpHeaderEnvVars: false,
  sandboxedFileStreaming: false,
  fileWriteStreaming: true,
  shellSnapshotV2: false,
  windowsMxc: false,
  linuxRootWritePreservesDevices: false,
  linuxApprovedRootWritePreservesRestrictions: false,
};

/** What a client is told of where its processes run. A process there says it, once: it may be another machine. */
export class EnvironmentInfo {
  readonly #processes: ExecProcess;
  #asked: Promise<object> | null = null;

  constructor(processes: ExecProcess) {
    this.#processes = processes;
  }

  /** Asked for anew after a failure, in which a plain shell is told. */
  async read(): Promise<object> {
    this.#asked ??= this.#ask();
    try {
      return await this.#asked;
    } catch {
      this.#asked = null;
      return information(['', '/bin/sh']);
    }
  }

  async #ask(): Promise<object> {
    const { stdout, process_id } = await this.#processes.run({ argv: ['/bin/sh', '-c', SCRIPT], wait_ms: 5_000 });
    await this.#processes.terminate(process_id, { grace_ms: 0, purge: true });
    return information(Buffer.from(stdout).toString('utf8').split('\n'));
  }
}

function information([own = '', other = '/bin/sh', cwd, home, temporary, system = 'Linux']: string[]): object {
  const path = own.startsWith('/') && SHELLS.includes(basename(own)) ? own : other;
  const place = (name: string, at: string | undefined) => (at?.startsWith('/') ? { [name]: fileUri(at) } : {});
  return {
    shell: { name: basename(path), path },
    executorVersion: PROTOCOL_VERSION,
    ...place('cwd', cwd),
    ...place('userHomeDir', home),
    platformOs: system === 'Darwin' ? 'macos' : system.toLowerCase(),
    prependPathDirs: [],
    temporaryDirectories: [],
    ...place('tempDir', temporary || '/tmp'),
    capabilities: CAPABILITIES,
  };
}

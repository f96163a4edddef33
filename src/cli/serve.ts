import { fileURLToPath } from 'node:url';
import { buildApp } from '../app.js';
import { Environment } from '../environment.js';
import { keepMemory } from '../keep-memory.js';
import { CODEX_LINGER_MS, GatewayError } from '../protocol/index.js';
import { standardStream } from '../standard-stream.js';
import { webFiles } from '../web-files.js';
import { banner } from './banner.js';
import { listen } from './listen.js';
import { type ServedHost, serveHost } from './serve-host.js';
import type { ServeOptions } from './serve-options.js';
import { Shutdown } from './shutdown.js';
import { readToken, readUpstreamToken, SettingError } from './token.js';
import { refuseUnknownVariables } from './variables.js';
import { VERSION } from './version.js';

/** The dashboard as built, from the sources and from the build alike. */
const WEB_DIR = fileURLToPath(new URL('../../dist/web', import.meta.url));

/**
 * Runs the gateway until SIGTERM, SIGINT or SIGHUP, then ends it and exits with 0. A second signal skips the grace.
 * @throws {SettingError} for a setting that cannot be used
 */
export async function serve(options: ServeOptions): Promise<void> {
  refuseUnknownVariables(process.env);
  keepMemory();
  const token = readToken(options, process.env.EXEC_GATEWAY_TOKEN);
  const { listen: at } = options;
  const host = await serveHost(options, limitsOf(options));
  const environment = createEnvironment(options, host);
  const shutdown = new Shutdown(environment);
  const app = buildApp(
    {
      token: token?.token ?? null,
      listen: at,
      allow_hosts: options.allowHost,
      allow_origins: options.allowOrigin,
      session_ttl_ms: options.sessionTtlMs,
      web_dir: WEB_DIR,
      max_body_bytes: options.maxBodyBytes,
      body_timeout_ms: options.bodyTimeoutMs,
      max_file_bytes: options.maxFileBytes ?? null,
      heartbeat_ms: options.heartbeatMs,
      codex_linger_ms: CODEX_LINGER_MS,
      log_level: options.logLevel,
      limits: shownLimits(options),
      version: VERSION,
    },
    environment,
    shutdown.probes,
  );
  const told = standardStream(1);
  const end = (signal: NodeJS.Signals) => {
    if (shutdown.begun) return void environment.close(0);
    told.write(`exec-gateway ends on ${signal}, ${host ? hostStays(host) : andItsProcesses}\n`);
    void shutdown.run(app, options.shutdownGraceMs).then(() => process.exit(0));
  };
  process.on('SIGTERM', end).on('SIGINT', end).on('SIGHUP', end);
  const url = await listen(app, at);
  told.write(banner(url, at.kind === 'unix' ? at.path : null, token, webFiles(WEB_DIR) !== null));
}

const andItsProcesses = 'and ends its processes first; a second signal ends them at once';
const hostStays = ({ directory }: ServedHost) => `its processes run on; exec-gateway drain --data-dir ${directory.path} ends them`;

function createEnvironment(options: ServeOptions, host: ServedHost | undefined): Environment {
  const { upstream: url, fsRoot: fs_root, confineCwd: confine_cwd } = options;
  const token = readUpstreamToken(options);
  if (url !== undefined && (fs_root !== undefined || confine_cwd)) {
    throw new SettingError('--fs-root and --confine-cwd are for what is on this machine: give them to the gateway at --upstream.');
  }
  if (confine_cwd && fs_root === undefined) {
    throw new SettingError('--confine-cwd keeps working directories in the file root: give that with --fs-root, or leave it out.');
  }
  try {
    return Environment.create({
      url,
      token,
      limits: limitsOf(options),
      fs_root,
      confine_cwd,
      host: host?.link,
      hide: host && [host.directory.path],
    });
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw new SettingError(`--fs-root: ${error.message}`, { cause: error });
  }
}

const limitsOf = (options: ServeOptions) => ({
  max_processes: options.maxProcesses,
  retain_bytes: options.retainBytes,
  retain_closed_ms: options.retainClosedMs,
  max_closed: options.maxClosed,
  max_closed_bytes: options.maxClosedBytes,
});

/** Those of processes behind another gateway are told there. */
const shownLimits = (options: ServeOptions): Record<string, number> => ({
  ...(options.upstream === undefined
    ? { processes: options.maxProcesses, closed_processes: options.maxClosed, retain_bytes: options.retainBytes }
    : {}),
  body_bytes: options.maxBodyBytes,
  ...(options.maxFileBytes === undefined ? {} : { file_bytes: options.maxFileBytes }),
});

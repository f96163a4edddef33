import { Command, InvalidArgumentError, Option } from 'commander';
import { type AppConfig, DEFAULT_CONFIG, type Listen } from '../config.js';
import { DEFAULT_LIMITS, DEFAULT_TRANSCRIPT_LIMITS, MIN_TRANSCRIPT_BYTES } from '../environment.js';
import { MAX_RETAIN_BYTES, MAX_SESSION_MS, MAX_TIMEOUT_MS, MIN_SESSION_MS } from '../protocol/index.js';
import { setting } from './setting.js';

const MIB = 1024 * 1024;

/** The settings of `exec-gateway serve`, read and checked one by one. */
export interface ServeOptions {
  listen: Listen;
  tokenFile?: string;
  auth: boolean;
  allowHost: string[];
  allowOrigin: string[];
  sessionTtlMs: number;
  upstream?: string;
  upstreamTokenFile?: string;
  fsRoot?: string;
  confineCwd: boolean;
  maxFileBytes?: number;
  dataDir?: string;
  transcriptBytes: number;
  transcriptTotalBytes: number;
  maxProcesses: number;
  retainBytes: number;
  retainClosedMs: number;
  maxClosed: number;
  maxClosedBytes: number;
  maxBodyBytes: number;
  bodyTimeoutMs: number;
  heartbeatMs: number;
  shutdownGraceMs: number;
  logLevel: AppConfig['log_level'];
}

/** The `serve` command without its action. Every flag but `--no-auth` is a variable too: `--max-closed` is `EXEC_GATEWAY_MAX_CLOSED`. */
export function serveCommand(): Command {
  const command = new Command('serve').description('Start, watch, feed and end processes, and move files, on this machine over HTTP.');
  return addLimits(addStorage(addFiles(addAccess(command)))).addHelpText(
    'after',
    '\nEvery flag but --no-auth is a variable too: --max-closed is\nEXEC_GATEWAY_MAX_CLOSED. A flag wins.',
  );
}

function addAccess(command: Command): Command {
  return command
    .addOption(setting('--listen <address>', 'HOST:PORT or unix:PATH').default(DEFAULT_CONFIG.listen, '127.0.0.1:8787').argParser(listen))
    .addOption(
      setting('--token-file <path>', 'file that holds the bearer token; without it and EXEC_GATEWAY_TOKEN one is made and printed'),
    )
    .addOption(new Option('--no-auth', 'ask for no token; only on loopback or a unix socket'))
    .addOption(
      setting('--allow-host <host>', 'Host header to answer besides the address itself; repeatable, or comma-separated')
        .default([])
        .argParser(list(allowedHost)),
    )
    .addOption(
      setting('--allow-origin <origin>', 'web origin that may call, such as https://dash.example; repeatable')
        .default([])
        .argParser(list(allowedOrigin)),
    )
    .addOption(
      count('--session-ttl-ms <ms>', 'how long a browser stays signed in', DEFAULT_CONFIG.session_ttl_ms, MIN_SESSION_MS, MAX_SESSION_MS),
    )
    .addOption(setting('--upstream <url>', 'be a gateway in front of the gateway at this URL').argParser(upstream))
    .addOption(setting('--upstream-token-file <path>', 'file that holds the token of the gateway behind'));
}

function addFiles(command: Command): Command {
  return command
    .addOption(setting('--fs-root <dir>', 'directory that no path of a file leaves, links included; without it every path is allowed'))
    .addOption(
      setting('--confine-cwd [true|false]', 'keep the working directories of processes in the file root too; needs --fs-root')
        .preset('true')
        .default(false)
        .argParser(yes),
    )
    .addOption(count('--max-file-bytes <bytes>', 'largest file an upload may make; without it any', undefined, 0, 2 ** 50 - 1));
}

function addStorage(command: Command): Command {
  return addTranscripts(
    command.addOption(
      setting('--data-dir <dir>', 'directory that keeps processes and their output when the gateway ends; see also status, drain'),
    ),
  );
}

/** Adds the flags that say how much output is kept on disk. */
export function addTranscripts(command: Command): Command {
  const { transcript_bytes, transcript_total_bytes } = DEFAULT_TRANSCRIPT_LIMITS;
  const most = 2 ** 50 - 1;
  return command
    .addOption(count('--transcript-bytes <bytes>', 'output kept on disk per process', transcript_bytes, MIN_TRANSCRIPT_BYTES, most))
    .addOption(
      count('--transcript-total-bytes <bytes>', 'output kept on disk of all processes', transcript_total_bytes, MIN_TRANSCRIPT_BYTES, most),
    );
}

function addLimits(command: Command): Command {
  return command
    .addOption(count('--max-processes <n>', 'open processes at once', DEFAULT_LIMITS.max_processes, 1, 1_000_000))
    .addOption(
      count(
        '--retain-bytes <bytes>',
        'output kept per process unless the start says otherwise',
        DEFAULT_LIMITS.retain_bytes,
        1,
        MAX_RETAIN_BYTES,
      ),
    )
    .addOption(
      count('--retain-closed-ms <ms>', 'how long a closed process stays readable', DEFAULT_LIMITS.retain_closed_ms, 0, MAX_TIMEOUT_MS),
    )
    .addOption(count('--max-closed <n>', 'how many closed processes stay readable', DEFAULT_LIMITS.max_closed, 0, 1_000_000))
    .addOption(
      count(
        '--max-closed-bytes <bytes>',
        'output kept of all closed processes together',
        DEFAULT_LIMITS.max_closed_bytes,
        0,
        1024 * 1024 * MIB,
      ),
    )
    .addOption(count('--max-body-bytes <bytes>', 'largest request body', DEFAULT_CONFIG.max_body_bytes, 1024, 1024 * MIB))
    .addOption(
      count(
        '--body-timeout-ms <ms>',
        'in which a body has to arrive; of a file, in which some of it has to',
        DEFAULT_CONFIG.body_timeout_ms,
        100,
        MAX_TIMEOUT_MS,
      ),
    )
    .addOption(
      count('--heartbeat-ms <ms>', 'silence on an event stream before a comment is sent', DEFAULT_CONFIG.heartbeat_ms, 10, 3_600_000),
    )
    .addOption(count('--shutdown-grace-ms <ms>', 'between SIGTERM and SIGKILL when the gateway ends', 2_000, 0, 5_000))
    .addOption(
      setting('--log-level <level>', 'what is logged to stderr')
        .choices(['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'])
        .default(DEFAULT_CONFIG.log_level),
    );
}

function count(flags: string, description: string, standard: number | undefined, min: number, max: number): Option {
  const parse = (text: string) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`Give a whole number from ${min} to ${max}.`);
  };
  const option = setting(flags, description).argParser(parse);
  return standard === undefined ? option : option.default(standard);
}

function list(check: (item: string) => string): (text: string, before: string[]) => string[] {
  const items = (text: string) => text.split(',').map((item) => item.trim());
  return (text, before) => [...before, ...items(text).filter(Boolean).map(check)];
}

function allowedHost(text: string): string {
  if (/^(\[[0-9a-fA-F:.]+\]|[\w.-]+)(:\d{1,5})?$/.test(text)) return text;
  throw new InvalidArgumentError('Give NAME or NAME:PORT, without a scheme.');
}

function allowedOrigin(text: string): string {
  const isWeb = URL.canParse(text) && new URL(text).origin === text;
  if (isWeb || /^(?!https?:)[a-z][a-z0-9+.-]*:\/\/[^/?#@\s]+$/.test(text)) return text; // the latter as of browser extensions
  throw new InvalidArgumentError(
    'Give an origin as a browser writes it: scheme, name, and port unless it is the usual one, without a path.',
  );
}

function listen(text: string): Listen {
  if (text.startsWith('unix:') && text.length > 5) return { kind: 'unix', path: text.slice(5) };
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]/]+)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (match && port <= 65_535) return { kind: 'tcp', host: (match[1] ?? match[2]) as string, port };
  throw new InvalidArgumentError('Give HOST:PORT, such as 127.0.0.1:8787 or [::1]:8787, or unix:PATH.');
}

function yes(text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw new InvalidArgumentError('Give true or false.');
}

function upstream(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new InvalidArgumentError('Give an http: or https: URL.');
}

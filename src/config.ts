import { CODEX_LINGER_MS, DEFAULT_SESSION_MS, HEARTBEAT_MS } from './protocol/limits.js';

/** Where the gateway listens. Port 0 takes any free port. */
export type Listen = { kind: 'tcp'; host: string; port: number } | { kind: 'unix'; path: string };

/** What pino takes as a level. */
export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';

/** Settings of the HTTP front. Those of processes belong to the core. */
export interface AppConfig {
  /** The bearer token every call but the probes must carry; null turns the check off. */
  token: string | null;
  listen: Listen;
  /** Further names for the Host header: `name` at any port, or `name:port`. */
  allow_hosts: string[];
  /** Origins whose pages may call, as a browser writes them: `https://example.com`. */
  allow_origins: string[];
  /** How long a session of the dashboard lasts, in milliseconds. */
  session_ttl_ms: number;
  /** Directory of the dashboard as it was built; null, or one without an index.html, for no dashboard. */
  web_dir: string | null;
  /** Largest request body, in bytes. */
  max_body_bytes: number;
  /** Time in which a request body has to arrive, in milliseconds; of one that is streamed, in which some of it has to. */
  body_timeout_ms: number;
  /** Largest file an upload may make, in bytes; null for any. It is streamed, so `max_body_bytes` does not hold for it. */
  max_file_bytes: number | null;
  /** Silence on a stream after which a comment is sent, in milliseconds. */
  heartbeat_ms: number;
  /** How long a session of a Codex client outlives its connection, in milliseconds. */
  codex_linger_ms: number;
  log_level: LogLevel;
  /** Limits shown in the metrics, by their names there. */
  limits: Readonly<Record<string, number>>;
  /** The version shown in the metrics. */
  version: string;
}

/** Loopback at port 8787, bodies up to 16 MiB, a heartbeat every 15 s, and no token: whoever listens must choose one. */
export const DEFAULT_CONFIG: AppConfig = {
  token: null,
  listen: { kind: 'tcp', host: '127.0.0.1', port: 8787 },
  allow_hosts: [],
  allow_origins: [],
  session_ttl_ms: DEFAULT_SESSION_MS,
  web_dir: null,
  max_body_bytes: 16 * 1024 * 1024,
  body_timeout_ms: 120_000,
  max_file_bytes: null,
  heartbeat_ms: HEARTBEAT_MS,
  codex_linger_ms: CODEX_LINGER_MS,
  log_level: 'info',
  limits: {},
  version: '0.0.0',
};

import type { ProcessStats } from '../protocol/process-stats.js';

/**
 * The version of what a front and its host say to each other. It rises when one of an earlier version would misunderstand; frames, the
 * greeting, `status` and `drain` stay as they are in all versions, so that any front can tell of any host, and end it.
 */
export const HOST_PROTOCOL = 1;

/** Limits of processes, as the settings of the front name them. */
export interface HostLimits {
  max_processes: number;
  retain_bytes: number;
  retain_closed_ms: number;
  max_closed: number;
  max_closed_bytes: number;
}

/** How much output a host keeps on disk, from its start to its end. */
export interface HostedTranscripts {
  transcript_bytes: number;
  transcript_total_bytes: number;
}

/** What holds for processes from when a front says so: as if they were started by the front itself. */
export interface HostSettings {
  limits: HostLimits;
  /** The working directory of programs that name none. */
  cwd: string;
  /** What the environment of programs is made from. */
  env: Record<string, string>;
  /** The directory that no working directory leaves; null for any. */
  cwd_root: string | null;
}

/** The first call of a connection. */
export interface Greeting {
  protocol: number;
  version: string;
  pid: number;
  /** Null for who only asks for the state, or ends the host. */
  settings: HostSettings | null;
}

/** The answer to it, of a host of any version. */
export interface Welcome {
  protocol: number;
  version: string;
  pid: number;
}

/** A host as `exec-gateway status` tells of it. */
export interface HostStatus extends Welcome {
  started_at: string;
  /** The gateway it works for; null without one. */
  front: { pid: number; version: string } | null;
  /** Whether it takes no new work. */
  draining: boolean;
  resident_bytes: number;
  stats: ProcessStats;
}

/** How a host is ended. */
export interface DrainRequest {
  /** How long to wait for processes to end by themselves, in milliseconds. */
  wait_ms: number;
  /** Between SIGTERM and SIGKILL for those that are left, in milliseconds. */
  grace_ms: number;
}

/** What became of the processes of a host that was drained. */
export interface Drained {
  /** How many were ended. */
  ended: number;
}

/** Why a call failed, where it is not a `GatewayError`. */
export interface OtherFailure {
  /** A sandbox that cannot be kept. */
  refusal: string;
}

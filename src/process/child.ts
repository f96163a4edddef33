import type { Stream, TtySize } from '../protocol/index.js';
import type { Env } from './child-env.js';

/** What to launch: everything is resolved and checked. */
export interface LaunchSpec {
  /** The program as the caller named it. */
  command: string;
  /** Absolute path of the program. */
  path: string;
  /** What the program sees; argv[0] is arg0 when that was given. */
  argv: readonly string[];
  cwd: string;
  env: Env;
  pipe_stdin: boolean;
  tty: TtySize | null;
  /** Most that is read of an output at once, in bytes. Pipes of the portable launcher do not heed it. */
  read_bytes: number;
}

/** What a child tells; nothing is told before `launch` has returned. */
export interface ChildEvents {
  /** The bytes are good until it returns. */
  output(stream: Stream, bytes: Uint8Array): void;
  /** The program ended: its code, or the number of the signal. Once; output may still come. */
  exit(code: number, signal: number): void;
  /** All output streams are at EOF, and every descriptor is let go. Once, perhaps before `exit`. */
  end(): void;
}

/** A program that was launched as the leader of a session and process group of its own. */
export interface Child {
  readonly pid: number;
  /** Stops reading output; the program then stands still when its pipe is full. */
  pause(): void;
  resume(): void;
  /** Takes the next input; calls back when the system has it (null), or when it never will. */
  write(bytes: Uint8Array, done: (error: Error | null) => void): void;
  /** Closes stdin after what was written (types ^D on a terminal). */
  endInput(done: (error: Error | null) => void): void;
  /** Sets the terminal's size; a program without one ignores it. */
  resize(size: TtySize): void;
  /** Lets go of all descriptors; `end` follows. */
  destroy(): void;
}

/**
 * Launches a program. Behind this one function a faster way to start programs can take the place of the present one.
 * @throws {GatewayError} `command_not_found`, `permission_denied`, `exec_format_error`, `text_file_busy`,
 * `argument_list_too_long`, `resource_exhausted`; then nothing was started and nothing is told
 */
export type Launch = (spec: LaunchSpec, events: ChildEvents) => Promise<Child>;

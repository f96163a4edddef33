import { createRequire } from 'node:module';
import type { Readable } from 'node:stream';

/** The pid, and this side's descriptors, -1 for none. */
export type Started = [pid: number, first: number, second: number, third: number];

/** What native/launch.c offers; see there. */
export interface Native {
  launch(
    file: string,
    argv: readonly string[],
    env: string[],
    cwd: string,
    mode: number,
    cols: number,
    rows: number,
    on_started: (error: Error | undefined, started: Started) => void,
    on_exit: (code: number, signal: number) => void,
  ): void;
  resize(fd: number, cols: number, rows: number): void;
  limitUnsent(fd: number, bytes: number): void;
  keepMemory(bytes: number): void;
  lock(fd: number): boolean;
  peerUser(fd: number): number;
  supported: boolean;
}

function load(): Native | null {
  try {
    const native = createRequire(import.meta.url)('../../build/Release/launch.node') as Native;
    // One that an earlier version left behind is none.
    return native.supported && 'keepMemory' in native ? native : null;
  } catch {
    return null;
  }
}

/** The native part, or null where it was not built or the kernel lacks what it needs. */
export const native = load();

/** The descriptor of a socket, which has no public name; -1 when there is none (any more). */
export function descriptorOf(socket: Readable): number {
  return (socket as { _handle?: { fd?: number } | null })._handle?.fd ?? -1;
}

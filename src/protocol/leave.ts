/**
 * What tells a call once that it is given up: an AbortSignal, or as much of one as a call that only waits needs. A real one takes
 * almost 1 KB, and callers wait by the thousand.
 */
export interface Leave {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: LeaveListener): void;
  removeEventListener(type: 'abort', listener: LeaveListener): void;
}

export interface LeaveListener {
  handleEvent(): void;
}

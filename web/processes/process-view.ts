import type { ProcessInfo } from '../../src/client/index.js';
import { joinCommand } from '../command-line.js';

/** How a process fares, in a word that has a colour. */
export type Mood = 'running' | 'good' | 'failed' | 'ended';

export const commandOf = (process: ProcessInfo): string => joinCommand(process.argv);

export const isRunning = ({ state }: ProcessInfo): boolean => state === 'starting' || state === 'running';

export function moodOf(process: ProcessInfo): Mood {
  if (isRunning(process)) return 'running';
  if (process.exit_code === 0) return 'good';
  return process.reason === 'terminated' || process.reason === 'shutdown' ? 'ended' : 'failed';
}

/** How it ended, in few words: `0`, `1`, `SIGKILL`, `timed out`; empty before. */
export function exitText({ exit_code, signal, reason }: ProcessInfo): string {
  if (reason === 'timed_out') return 'timed out';
  if (reason === 'lost') return 'lost';
  return signal ?? (exit_code === null ? '' : String(exit_code));
}

/** How it ended, in a sentence. */
export function exitSentence(process: ProcessInfo): string {
  const { exit_code, signal, reason } = process;
  const how = signal === null ? `with code ${exit_code}` : `by ${signal} (code ${exit_code})`;
  switch (reason) {
    case 'terminated':
      return `Ended on request, ${how}`;
    case 'timed_out':
      return `Ran out of time, ended ${how}`;
    case 'shutdown':
      return `Ended ${how}, as the gateway shut down`;
    case 'lost':
      return 'Lost: what held it died';
    case 'signaled':
      return `Ended ${how}`;
    default:
      return `Exited ${how}`;
  }
}

/** How long it has run, in milliseconds; null before it did. */
export function durationOf({ started_at, exited_at }: ProcessInfo, now: number): number | null {
  if (started_at === null) return null;
  return (exited_at === null ? now : Date.parse(exited_at)) - Date.parse(started_at);
}

/** A label as one writes it. */
export const labelTexts = ({ labels }: ProcessInfo): string[] =>
  Object.entries(labels).map(([key, value]) => (value === '' ? key : `${key}=${value}`));

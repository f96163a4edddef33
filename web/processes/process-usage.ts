import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { ProcessInfo } from '../../src/client/index.js';
import { bytesText } from '../format.js';
import { isRunning } from './process-view.js';

/** What a process used at one look. */
interface Look {
  /** In milliseconds, of a clock that nobody sets. */
  at: number;
  cpu_ms: number;
  rss_bytes: number;
  /** Of one core, since the look before; null at the first. */
  cpu_percent: number | null;
}

/** By process and moment of its creation. */
const looks = signal<ReadonlyMap<string, Look>>(new Map());

let watchers = 0;

/** Whether somebody sees what a running process uses. */
export const usageSeen = (): boolean => watchers > 0;

/** What a running process uses, as people read it: empty where it is not known, or not running. It is asked for as long as somebody uses this. */
export function useUsage(process: ProcessInfo): { cpu: string; memory: string } {
  const runs = isRunning(process);
  useEffect(() => {
    if (!runs) return;
    watchers++;
    return () => {
      watchers--;
    };
  }, [runs]);
  const look = runs ? looks.value.get(keyOf(process)) : undefined;
  if (look === undefined) return { cpu: '', memory: '' };
  return { cpu: look.cpu_percent === null ? '' : `${look.cpu_percent} %`, memory: bytesText(look.rss_bytes) };
}

/** Takes what a list told, once it has come; what it does not tell of is forgotten. */
export function takeUsage(processes: readonly ProcessInfo[]): void {
  const at = performance.now();
  const taken = new Map<string, Look>();
  for (const process of processes) {
    if (process.usage == null) continue;
    const before = looks.peek().get(keyOf(process));
    const cpu_percent = before ? Math.round((100 * Math.max(0, process.usage.cpu_ms - before.cpu_ms)) / (at - before.at)) : null;
    taken.set(keyOf(process), { at, ...process.usage, cpu_percent });
  }
  if (taken.size > 0 || looks.peek().size > 0) looks.value = taken;
}

const keyOf = ({ process_id, created_at }: ProcessInfo) => `${process_id} ${created_at}`;

import type { ProcessInfo } from '../../src/client/index.js';
import { commandOf, durationOf, exitText, isRunning, labelTexts, moodOf } from './process-view.js';

/** Which processes are shown. */
export type Filter = 'all' | 'running' | 'ended' | 'failed';

/** What they are sorted by. */
export type SortKey = 'state' | 'command' | 'started' | 'duration' | 'exit' | 'output';

export interface ProcessQuery {
  filter: Filter;
  /** Words that must all be found. */
  search: string;
  sort: SortKey;
  descending: boolean;
}

const FILTERS: Record<Filter, (process: ProcessInfo) => boolean> = {
  all: () => true,
  running: isRunning,
  ended: (process) => !isRunning(process),
  failed: (process) => moodOf(process) === 'failed',
};

const KEYS: Record<SortKey, (process: ProcessInfo, now: number) => number | string> = {
  state: ({ state }) => state,
  command: commandOf,
  started: ({ created_at }) => created_at,
  duration: (process, now) => durationOf(process, now) ?? 0,
  exit: exitText,
  output: ({ total_bytes }) => total_bytes,
};

/** What searching looks at, made once for each state of a process. */
const texts = new WeakMap<ProcessInfo, string>();

/** Those that match, sorted; what is equal stays newest first. */
export function queryProcesses(all: Iterable<ProcessInfo>, query: ProcessQuery, now: number): ProcessInfo[] {
  const words = query.search.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = (process: ProcessInfo) =>
    FILTERS[query.filter](process) && (words.length === 0 || words.every((word) => textOf(process).includes(word)));
  const key = KEYS[query.sort];
  const sign = query.descending ? -1 : 1;
  return [...all]
    .filter(matches)
    .reverse()
    .map((process) => ({ process, key: key(process, now) }))
    .sort((a, b) => (a.key === b.key ? 0 : sign * (a.key < b.key ? -1 : 1)))
    .map(({ process }) => process);
}

/** How many each filter lets through. */
export function filterCounts(all: Iterable<ProcessInfo>): Record<Filter, number> {
  const counts = { all: 0, running: 0, ended: 0, failed: 0 };
  for (const process of all) for (const name of Object.keys(counts) as Filter[]) if (FILTERS[name](process)) counts[name]++;
  return counts;
}

function textOf(process: ProcessInfo): string {
  let text = texts.get(process);
  if (text === undefined) {
    const { process_id, argv, cwd, pid, state } = process;
    text = [argv.join(' '), process_id, cwd, pid ?? '', state, exitText(process), ...labelTexts(process)].join('\n').toLowerCase();
    texts.set(process, text);
  }
  return text;
}

import { signal } from '@preact/signals';
import { type ChangeEvent, Gateway, type ProcessInfo } from '../../src/client/index.js';
import { GATEWAY_OPTIONS, gateway, sessionState } from '../session.js';
import { failureText } from '../ui/notices.js';
import { takeUsage, usageSeen } from './process-usage.js';

/** How often the sizes of running processes, and what those in sight use, are asked for, in milliseconds: changes do not tell of that. */
const SIZES_MS = 2_000;

/** How long a page is out of sight before it lets go of its connection: a browser has few of them for one host. */
const HIDDEN_MS = 15_000;

/** Pause before another attempt to watch, in milliseconds. */
const AGAIN_MS = 1_000;

/** All processes by their id, oldest first, as the gateway tells of them. The map is the same; the signal says that it changed. */
export const processes = new Map<string, ProcessInfo>();
export const changes = signal(0);

/** Whether a snapshot has come. */
export const loaded = signal(false);

/** Why the gateway is out of reach; null while it is not. */
export const lineLost = signal<string | null>(null);

/** One of its own, which tells how its one connection fares. */
const watched = new Gateway({
  ...GATEWAY_OPTIONS,
  retry: {
    ...GATEWAY_OPTIONS.retry,
    onLost: (error) => {
      lineLost.value = failureText(error);
    },
    onBack: () => {
      lineLost.value = null;
    },
  },
});

let life: AbortController | null = null;
let shown_soon = false;

/** Watches while one is signed in and looks. */
export function startWatching(): void {
  let hidden: ReturnType<typeof setTimeout> | undefined;
  const look = () => {
    clearTimeout(hidden);
    if (sessionState.value !== 'in') stop();
    else if (!document.hidden) start();
    else hidden = setTimeout(stop, HIDDEN_MS);
  };
  document.addEventListener('visibilitychange', look);
  sessionState.subscribe(look);
  setInterval(() => {
    if (life !== null && lineLost.value === null && !document.hidden) void askSizes(life.signal);
  }, SIZES_MS);
}

function start(): void {
  if (life !== null) return;
  life = new AbortController();
  void watch(life.signal);
}

function stop(): void {
  life?.abort();
  life = null;
  if (sessionState.value === 'in') return;
  processes.clear();
  loaded.value = false;
  lineLost.value = null;
  changed();
}

async function watch(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      for await (const change of watched.watch({ signal })) take(change);
    } catch (error) {
      if (signal.aborted) return;
      lineLost.value = failureText(error);
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}

function take(change: ChangeEvent): void {
  lineLost.value = null;
  switch (change.event) {
    case 'snapshot':
      processes.clear();
      for (const process of change.processes) processes.set(process.process_id, process);
      loaded.value = true;
      break;
    case 'started':
    case 'exited':
    case 'closed':
      processes.set(change.process.process_id, change.process);
      break;
    case 'removed':
      processes.delete(change.process_id);
      break;
    case 'output':
    case 'gap': // not asked for
  }
  changed();
}

/** Many changes may come at once: they are shown together. */
function changed(): void {
  if (shown_soon) return;
  shown_soon = true;
  requestAnimationFrame(() => {
    shown_soon = false;
    changes.value++;
  });
}

async function askSizes(signal: AbortSignal): Promise<void> {
  const isRunning = (process: ProcessInfo | undefined) => process?.state === 'running' || process?.state === 'exited';
  if (![...processes.values()].some(isRunning)) return;
  try {
    for (const state of ['running', 'exited'] as const) {
      const usage = state === 'running' && usageSeen();
      const { processes: page } = await gateway.list({ state, limit: 1_000, ...(usage ? { usage } : {}), signal });
      if (state === 'running') takeUsage(page);
      for (const process of page) {
        const known = processes.get(process.process_id);
        if (known?.state === process.state) processes.set(process.process_id, process);
      }
    }
    changed();
  } catch {
    // The watch tells that the line is lost.
  }
}

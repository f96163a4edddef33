import { signal } from '@preact/signals';
import { askText } from '../session.js';
import { failureText } from '../ui/notices.js';
import { labelOf, type Metrics, readMetrics } from './metrics-text.js';

/** What the gateway counted at one moment. */
export interface Moment {
  /** In milliseconds. */
  at: number;
  values: Metrics;
}

/** How often the gateway is asked, in milliseconds. */
const EVERY_MS = 2_000;

/** How far back one sees, in milliseconds. */
export const WINDOW_MS = 180_000;

/** Oldest first. */
export const moments = signal<readonly Moment[]>([]);

/** The version of the gateway; null until it has said it. */
export const version = signal<string | null>(null);

/** Why it could not be asked; null while it can. */
export const failure = signal<string | null>(null);

/** Asks while somebody looks, until the answer is called. */
export function followMetrics(): () => void {
  const life = new AbortController();
  let busy = false;
  const ask = async () => {
    if (busy || document.hidden) return;
    busy = true;
    await look(life.signal);
    busy = false;
  };
  const timer = setInterval(ask, EVERY_MS);
  const back = () => void ask();
  document.addEventListener('visibilitychange', back);
  void ask();
  return () => {
    life.abort();
    clearInterval(timer);
    document.removeEventListener('visibilitychange', back);
  };
}

async function look(signal: AbortSignal): Promise<void> {
  try {
    const text = await askText('/metrics', signal);
    const at = Date.now();
    version.value = labelOf(text, 'exec_gateway_build_info', 'version');
    moments.value = [...moments.value.filter((moment) => moment.at > at - WINDOW_MS), { at, values: readMetrics(text) }];
    failure.value = null;
  } catch (error) {
    if (!signal.aborted) failure.value = failureText(error);
  }
}

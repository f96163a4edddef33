import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';

/** How often the loop has to come round, in milliseconds: what holds it up for less is seen in part. */
const RESOLUTION_MS = 10;

/** Least time that an answer speaks of, in milliseconds: the usual one between two scrapes. */
const WINDOW_MS = 15_000;

/** Time without a question after which nothing is measured any more, in milliseconds: looking at an idle loop is the only work there is. */
const IDLE_MS = 180_000;

/** How late the event loop came round, in seconds; NaN while nothing is known yet. */
export interface LoopDelays {
  p50: number;
  p99: number;
  max: number;
}

const UNKNOWN: LoopDelays = { p50: Number.NaN, p99: Number.NaN, max: Number.NaN };

interface Window {
  since: number;
  histogram: IntervalHistogram;
}

/**
 * Measures how long calls wait for others, from the first question on until nobody asks any more. Of two windows that overlap the older
 * one answers, so that several who ask do not take anything from each other.
 */
export class LoopDelay {
  readonly #window_ms: number;
  readonly #idle_ms: number;
  #windows: [older: Window, newer: Window] | null = null;
  #idle: NodeJS.Timeout | undefined;

  constructor({ window_ms = WINDOW_MS, idle_ms = IDLE_MS } = {}) {
    this.#window_ms = window_ms;
    this.#idle_ms = idle_ms;
  }

  get measures(): boolean {
    return this.#windows !== null;
  }

  /** Begins a question: what is measured is kept up, and the older window gives way when the newer one is long enough. */
  ask(): void {
    this.#windows ??= [begun(), begun()];
    this.#idle ??= setTimeout(() => this.stop(), this.#idle_ms).unref();
    this.#idle.refresh();
    const [older, newer] = this.#windows;
    const now = performance.now();
    if (now - newer.since < this.#window_ms) return;
    older.histogram.reset();
    this.#windows = [newer, { since: now, histogram: older.histogram }];
  }

  /** The delays of the last one or two windows, or of all since the question before where that is longer. */
  read(): LoopDelays {
    const histogram = this.#windows?.[0].histogram;
    return histogram === undefined || histogram.count === 0 ? UNKNOWN : delaysOf(histogram);
  }

  stop(): void {
    clearTimeout(this.#idle);
    this.#idle = undefined;
    for (const { histogram } of this.#windows ?? []) histogram.disable();
    this.#windows = null;
  }
}

function begun(): Window {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  return { since: performance.now(), histogram };
}

/** What is recorded is the time between two rounds, which is the resolution where nothing is late. */
function delaysOf(histogram: IntervalHistogram): LoopDelays {
  const late = (ns: number) => Math.max(0, ns / 1e6 - RESOLUTION_MS) / 1000;
  return { p50: late(histogram.percentile(50)), p99: late(histogram.percentile(99)), max: late(histogram.max) };
}

import { bytesText, countText } from '../format.js';
import type { Moment } from './metrics-history.js';

/** A value at a moment; null where the line has a hole. */
export interface Point {
  at: number;
  value: number | null;
}

/** What one chart shows. */
export interface Series {
  title: string;
  metric: string;
  /** Shown as it stands, or as what is added in a second. */
  kind: 'level' | 'rate';
  /** The value as people read it. */
  text: (value: number) => string;
  /** The chart reaches so high at least. */
  least: number;
}

/** Longer without a value is a hole, in milliseconds. */
const HOLE_MS = 10_000;

const decimal = (value: number) => (value >= 100 || Number.isInteger(value) ? countText(Math.round(value)) : value.toFixed(1));

export const SERIES: Series[] = [
  { title: 'Running processes', metric: 'exec_gateway_processes_running', kind: 'level', text: countText, least: 4 },
  { title: 'Starts per second', metric: 'exec_gateway_processes_started_total', kind: 'rate', text: decimal, least: 1 },
  { title: 'Output per second', metric: 'exec_gateway_output_bytes_total', kind: 'rate', text: bytesText, least: 1_024 },
  { title: 'Requests per second', metric: 'exec_gateway_http_requests_total', kind: 'rate', text: decimal, least: 2 },
  { title: 'Memory of the gateway', metric: 'process_resident_memory_bytes', kind: 'level', text: bytesText, least: 1_024 },
  {
    title: 'Event-loop delay (p99)',
    metric: 'exec_gateway_event_loop_delay_p99_seconds',
    kind: 'level',
    text: (seconds) => `${decimal(Math.round(seconds * 10_000) / 10)} ms`,
    least: 0.02,
  },
];

/** The line of a series. A counter that falls is that of another gateway. */
export function pointsOf({ metric, kind }: Series, moments: readonly Moment[]): Point[] {
  const points: Point[] = [];
  let before: Moment | undefined;
  for (const moment of moments) {
    const { at, values } = moment;
    if (before !== undefined && at - before.at > HOLE_MS) {
      points.push({ at, value: null });
      before = undefined;
    }
    const value = values.get(metric);
    if (kind === 'level') points.push({ at, value: value ?? null });
    else if (before !== undefined) points.push({ at, value: rate(value, before.values.get(metric), at - before.at) });
    before = moment;
  }
  return points;
}

function rate(value: number | undefined, before: number | undefined, ms: number): number | null {
  return value === undefined || before === undefined || value < before ? null : ((value - before) / Math.max(1, ms)) * 1_000;
}

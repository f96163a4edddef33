import {
  MAX_ARGUMENTS,
  MAX_LABELS,
  MAX_READ_BYTES,
  MAX_RETAIN_BYTES,
  MAX_TIMEOUT_MS,
  MAX_UPLOAD_BYTES,
  MAX_UPLOADS,
  MAX_WAIT_MS,
  MAX_WATCHES,
  STDIN_QUEUE_BYTES,
} from '../../src/protocol/limits.js';
import { bytesText, countText, durationText } from '../format.js';
import type { Metrics } from './metrics-text.js';

/** What this gateway was told to hold to, where it says so. */
const SETTINGS: [what: string, metric: string, text: (value: number) => string][] = [
  ['Processes at a time', 'exec_gateway_limit_processes', countText],
  ['Ended processes kept', 'exec_gateway_limit_closed_processes', countText],
  [
    'Output kept for a process',
    'exec_gateway_limit_retain_bytes',
    (bytes) => `${bytesText(bytes)}, up to ${bytesText(MAX_RETAIN_BYTES)} on request`,
  ],
  ['Body of a request', 'exec_gateway_limit_body_bytes', bytesText],
  ['File of an upload', 'exec_gateway_limit_file_bytes', bytesText],
];

/** What holds for every call of every gateway. */
const FIXED: [what: string, value: string][] = [
  ['Output read at once', bytesText(MAX_READ_BYTES)],
  ['Input that waits to be read', bytesText(STDIN_QUEUE_BYTES)],
  ['Time limit of a process', durationText(MAX_TIMEOUT_MS)],
  ['Wait of one call', durationText(MAX_WAIT_MS)],
  ['Arguments of a process', countText(MAX_ARGUMENTS)],
  ['Labels of a process', countText(MAX_LABELS)],
  ['Upload in parts', `${bytesText(MAX_UPLOAD_BYTES)}, ${countText(MAX_UPLOADS)} at a time`],
  ['Directories watched at a time', countText(MAX_WATCHES)],
];

/** The limits, in words. */
export function limitsOf(metrics: Metrics | undefined): [what: string, value: string][] {
  const told = SETTINGS.flatMap(([what, metric, text]): [string, string][] => {
    const value = metrics?.get(metric);
    return value === undefined ? [] : [[what, text(value)]];
  });
  return [...told, ...FIXED];
}

import {
  DEFAULT_RETAIN_BYTES,
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

/** What holds for every call, in words. */
export const LIMITS: [what: string, value: string][] = [
  ['Output kept for a process', `${bytesText(DEFAULT_RETAIN_BYTES)}, up to ${bytesText(MAX_RETAIN_BYTES)} on request`],
  ['Output read at once', bytesText(MAX_READ_BYTES)],
  ['Input that waits to be read', bytesText(STDIN_QUEUE_BYTES)],
  ['Time limit of a process', durationText(MAX_TIMEOUT_MS)],
  ['Wait of one call', durationText(MAX_WAIT_MS)],
  ['Arguments of a process', countText(MAX_ARGUMENTS)],
  ['Labels of a process', countText(MAX_LABELS)],
  ['Upload in parts', `${bytesText(MAX_UPLOAD_BYTES)}, ${countText(MAX_UPLOADS)} at a time`],
  ['Directories watched at a time', countText(MAX_WATCHES)],
];

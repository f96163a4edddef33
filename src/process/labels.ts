import { GatewayError } from '../protocol/index.js';
import { quoted } from '../protocol/quoted.js';

/** Whether labels hold all wanted `key=value` pairs. */
export type LabelMatch = (labels: Record<string, string> | undefined) => boolean;

/**
 * Reads `key=value` pairs; the first "=" parts them.
 * @throws {GatewayError} `invalid_request`
 */
export function labelMatch(pairs: readonly string[] = []): LabelMatch {
  const wanted = pairs.map((pair) => {
    const at = pair.indexOf('=');
    if (at > 0) return [pair.slice(0, at), pair.slice(at + 1)] as const;
    throw new GatewayError('invalid_request', `label ${quoted(pair)} is not key=value.`, { field: 'label' });
  });
  return (labels = {}) => wanted.every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value);
}

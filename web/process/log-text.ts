import type { OutputLog } from './output-log.js';

/** All text that is held here, as one reads it. */
export function textOf(log: OutputLog): string {
  const parts: string[] = [];
  for (let number = log.first; number < log.end; number++) {
    const line = log.line(number);
    if (line.kind === 'output') parts.push(line.continued || parts.length === 0 ? line.text : `\n${line.text}`);
  }
  return parts.join('');
}

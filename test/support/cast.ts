import { expect } from 'vitest';
import type { XTerm } from '../../src/process/xterm.js';
import { feed, viewer } from '../process/screen-model.js';

type CastEvent = [time: number, code: 'o' | 'r' | 'm', data: string];

export interface Cast {
  header: { version: 2; width: number; height: number; timestamp: number; env: { TERM: string } };
  events: CastEvent[];
  /** All output together. */
  text: string;
}

/** Takes a recording apart, and holds each line to what https://docs.asciinema.org/manual/asciicast/v2/ says. */
export function parseCast(bytes: Uint8Array): Cast {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  expect(text.endsWith('\n')).toBe(true);
  const [header, ...events] = text
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line)) as [Cast['header'], ...CastEvent[]];
  expect(header).toEqual({
    version: 2,
    width: expect.any(Number),
    height: expect.any(Number),
    timestamp: expect.any(Number),
    env: { TERM: expect.any(String) },
  });
  expect(Math.abs(header.timestamp - Date.now() / 1000)).toBeLessThan(3_600);
  let last = 0;
  for (const event of events) {
    const [time, code, data] = event;
    expect(event).toHaveLength(3);
    expect(time).toBeGreaterThanOrEqual(last);
    expect(code).toMatch(/^[orm]$/);
    expect(data).not.toBe('');
    if (code === 'r') expect(data).toMatch(/^\d+x\d+$/);
    last = time;
  }
  return { header, events, text: events.map(([, code, data]) => (code === 'o' ? data : '')).join('') };
}

/** A terminal after a recording was played. */
export async function played({ header, events }: Cast): Promise<XTerm> {
  const terminal = viewer({ cols: header.width, rows: header.height });
  for (const [, code, data] of events) {
    if (code === 'o') await feed(terminal, Buffer.from(data));
    if (code === 'r') terminal.resize(...(data.split('x').map(Number) as [number, number]));
  }
  return terminal;
}

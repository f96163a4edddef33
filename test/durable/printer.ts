import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { persist } from '../../src/client/persist.js';
import type { HostedGateway } from './hosted-gateway.js';
import { type Found, patience } from './readers.js';

/** The program that prints numbered lines, and tells at last what it read. */
export const PRINTER = fileURLToPath(new URL('../fixtures/printer.py', import.meta.url));

/** A process that runs it. */
export interface Printing {
  process_id: string;
  tty: boolean;
  exit_code: number;
}

/** All that was fed to one. */
export interface Fed {
  bytes: number;
  sha256: string;
}

export const FED_NOTHING: Fed = { bytes: 0, sha256: createHash('sha256').digest('hex') };

const lines = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => `${first + i}\n`).join('');

/** Feeds lines, each piece at its offset and as often as it takes, then the next one when there is `news`; ends when it is `over`. */
export async function feed(gateway: HostedGateway, process_id: string, news: () => Promise<void>, over: () => boolean): Promise<Fed> {
  const processes = gateway.processes();
  const digest = createHash('sha256');
  let bytes = 0;
  for (let line = 1, eof = false; !eof; line += 100) {
    const part = Buffer.from(lines(line, line + 99));
    eof = over();
    const query = { offset: bytes, eof };
    await persist((signal) => processes.write(process_id, part, query, { signal }), patience);
    digest.update(part);
    bytes += part.length;
    if (!eof) await news();
  }
  return { bytes, sha256: digest.digest('hex') };
}

/** Each line once, and at last what the program had read, which is all that it was fed; its exit, where that is told. */
export function expectWhole(what: string, { text, gaps, exit_code }: Found, printing: Printing, { bytes, sha256 }: Fed): void {
  const count = Number(/end (\d+) \d+ [0-9a-f]+\r?\n$/.exec(text)?.[1]);
  expect(count, `${what} ends with ${JSON.stringify(text.slice(-200))}`).toBeGreaterThan(0);
  expectSame(what, text, onStream(`${lines(1, count)}end ${count} ${bytes} ${sha256}\n`, printing));
  expect([gaps, exit_code ?? printing.exit_code], what).toEqual([[], printing.exit_code]);
}

/** The first lines, up to wherever it was cut off, and then nothing more of it but that it is lost. */
export function expectLost(what: string, { text, gaps, exit_code }: Found, printing: Printing): void {
  expectSame(what, text, onStream(lines(1, text.split('\n').length), printing).slice(0, text.length));
  expect([gaps, exit_code], what).toEqual([[expect.objectContaining({ reason: 'lost', bytes: null })], 137]);
}

const onStream = (text: string, { tty }: Printing) => (tty ? text.replaceAll('\n', '\r\n') : text);

/** Says where two texts differ: all of them would be megabytes. */
function expectSame(what: string, text: string, whole: string): void {
  let at = 0;
  if (text !== whole) while (text[at] === whole[at]) at++;
  const near = (of: string) => of.slice(Math.max(0, at - 30), at + 30);
  expect([text.length, near(text)], `${what}, at ${at}`).toEqual([whole.length, near(whole)]);
}

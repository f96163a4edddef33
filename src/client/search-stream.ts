import { GatewayError } from '../protocol/error.js';
import type { SearchLine } from '../protocol/search.js';
import type { WireStream } from './wire.js';

/** Longest line of a search, in characters: a path of 4 KiB and the text of a line, both escaped, with room. */
const MAX_LINE_CHARS = 128 * 1024;

/** The bytes of an answer as they come. Leaving the loop breaks its connection. */
export async function* streamBytes(stream: WireStream): AsyncGenerator<Uint8Array, void> {
  try {
    for (let bytes = await stream.read(); bytes !== null; bytes = await stream.read()) yield bytes;
  } finally {
    stream.close();
  }
}

/**
 * The lines of a search, those of one network read together.
 * @throws {GatewayError} `upstream_unreachable` when the last line is missing
 */
export async function* searchLines(stream: WireStream): AsyncGenerator<SearchLine[], void> {
  const decoder = new TextDecoder();
  let rest = '';
  let done = false;
  for await (const bytes of streamBytes(stream)) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE_CHARS) throw unlike('a line is too long');
    const batch = lines.map(parsed);
    done ||= batch.some((line) => 'done' in line);
    if (batch.length > 0) yield batch;
  }
  if (!done) throw unlike('it ended before its last line');
}

function parsed(line: string): SearchLine {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw unlike('a line is no JSON', cause);
  }
}

function unlike(why: string, cause?: unknown): GatewayError {
  return new GatewayError('upstream_unreachable', `The answer to a search is not whole: ${why}.`, {}, { cause });
}

import { seqOf } from '../protocol/event-seq.js';
import type { Gap, OutputEvent, ProcessEvent } from '../protocol/index.js';
import { checkGap, type ReadOn } from './kept-bytes.js';
import type { KeptOutput } from './kept-output.js';
import type { TerminalHistory } from './terminal-history.js';
import type { SizeChange } from './transcript/process-record.js';

/** What a recording says of the terminal. */
export interface Recorded {
  history: TerminalHistory;
  started_at: Date;
  /** The value of TERM. */
  term: string;
}

/**
 * The kept output of a terminal as a recording: https://docs.asciinema.org/manual/asciicast/v2/. Where the beginning is missing, time
 * begins with what is left; what is missing later is a marker. Ends with what was printed before `kept.next_seq`.
 */
export async function* asciicast(kept: KeptOutput, recorded: Recorded, readOn: ReadOn): AsyncGenerator<Uint8Array, void> {
  const first_seq = kept.spans[0]?.first_seq ?? kept.next_seq;
  const cast = new Cast(recorded, first_seq);
  if (kept.size_bytes === 0) yield Buffer.from(cast.header(0));
  else {
    for await (const batch of readOn(first_seq - 1)) {
      const events = batch.filter((event) => seqOf(event) < kept.next_seq);
      const lines = events.flatMap((event) => cast.lines(event, kept));
      if (lines.length > 0) yield Buffer.from(lines.join(''));
      if (events.length < batch.length || seqOf(batch.at(-1) as ProcessEvent) === kept.next_seq - 1) break;
    }
  }
  const end = cast.end(kept.next_seq);
  if (end.length > 0) yield Buffer.from(end.join(''));
}

/** The lines of one recording. */
class Cast {
  readonly #recorded: Recorded;
  readonly #first_seq: number;
  readonly #sizes: SizeChange[];
  #decoder = utf8();
  /** When the recording begins, in milliseconds since the start of the program; null before its first line. */
  #begin_ms: number | null = null;
  #last_ms = 0;

  constructor(recorded: Recorded, first_seq: number) {
    this.#recorded = recorded;
    this.#first_seq = first_seq;
    this.#sizes = recorded.history.sizes.filter(({ seq }) => seq > first_seq);
  }

  /** @param at_ms when the first output came, in milliseconds since the start of the program */
  header(at_ms: number): string {
    const { history, started_at, term } = this.#recorded;
    this.#begin_ms = this.#first_seq === 1 ? 0 : at_ms;
    const { cols: width, rows: height } = history.sizeAt(this.#first_seq);
    const timestamp = Math.floor((started_at.getTime() + this.#begin_ms) / 1000);
    return line({ version: 2, width, height, timestamp, env: { TERM: term } });
  }

  /** @throws {GatewayError} `output_evicted` for a gap in what was kept */
  lines(event: ProcessEvent, kept: KeptOutput): string[] {
    if (event.event === 'output') return this.#output(event);
    if (event.event !== 'gap') return [];
    checkGap(kept, event);
    return this.#gap(event);
  }

  #output({ seq, chunk, at_ms = this.#recorded.history.times.of(seq) }: OutputEvent): string[] {
    const lines = this.#begin_ms === null ? [this.header(at_ms)] : [];
    lines.push(...this.#resized(seq));
    const text = this.#decoder.decode(chunk, { stream: true });
    if (text !== '') lines.push(this.#event(at_ms, 'o', text));
    return lines;
  }

  #gap({ to_seq, bytes, reason }: Gap): string[] {
    const size = bytes === null ? 'some output' : `${bytes} bytes`;
    const lines = [...this.#rest(), ...this.#resized(to_seq + 1)];
    return [...lines, this.#event(0, 'm', `${size} missing here: ${reason}`)];
  }

  end(next_seq: number): string[] {
    return [...this.#rest(), ...this.#resized(next_seq)];
  }

  /** What is left of a character that never got whole. */
  #rest(): string[] {
    const text = this.#decoder.decode();
    this.#decoder = utf8();
    return text === '' ? [] : [this.#event(0, 'o', text)];
  }

  #resized(next_seq: number): string[] {
    const lines: string[] = [];
    for (let next = this.#sizes[0]; next && next.seq <= next_seq; next = this.#sizes[0]) {
      lines.push(this.#event(next.at_ms, 'r', `${next.cols}x${next.rows}`));
      this.#sizes.shift();
    }
    return lines;
  }

  /** Time never goes back in it: what has none comes with what was last. */
  #event(at_ms: number, code: 'o' | 'r' | 'm', data: string): string {
    this.#last_ms = Math.max(this.#last_ms, at_ms - (this.#begin_ms ?? 0));
    return line([this.#last_ms / 1000, code, data]);
  }
}

const line = (value: unknown) => `${JSON.stringify(value)}\n`;

/** Everything is kept, a byte order mark too. */
const utf8 = () => new TextDecoder('utf-8', { ignoreBOM: true });

import type { Gap, ProcessEvent, Stream } from '../../src/protocol/index.js';

/** An event as text, so that lists of them compare and print well. */
export type Told = string;

type Kept =
  | { seq: number; kind: 'output'; stream: Stream; bytes: Uint8Array; evicted: boolean }
  | { seq: number; kind: 'exited' | 'closed' };

/** The event log in its plainest form: everything is kept in one list, and marked when it would be gone. */
export class EventLogModel {
  readonly #retain_bytes: number;
  readonly #events: Kept[] = [];

  constructor(retain_bytes: number) {
    this.#retain_bytes = retain_bytes;
  }

  get next_seq(): number {
    return this.#events.length + 1;
  }

  get held_bytes(): number {
    return sizes(this.#held());
  }

  get total_bytes(): number {
    return sizes(this.#events);
  }

  get first_seq(): number {
    return this.#events.find((event) => event.kind !== 'output' || !event.evicted)?.seq ?? this.next_seq;
  }

  get evicted_seq(): number {
    return this.#events.findLast((event) => event.kind === 'output' && event.evicted)?.seq ?? 0;
  }

  append(stream: Stream, bytes: Uint8Array): void {
    this.#events.push({ seq: this.next_seq, kind: 'output', stream, bytes, evicted: false });
    for (let held = this.#held(); held.length > 1 && sizes(held) > this.#retain_bytes; held = this.#held()) {
      const oldest = held[0] as Kept & { kind: 'output' };
      oldest.evicted = true;
    }
  }

  end(kind: 'exited' | 'closed'): void {
    this.#events.push({ seq: this.next_seq, kind });
  }

  /** Output bytes of the events from..to. */
  bytes(from: number, to: number): number {
    return sizes(this.#events.slice(from - 1, to));
  }

  gap(from_seq: number, to_seq: number): Gap | null {
    if (from_seq > to_seq) return null;
    return { from_seq, to_seq, bytes: this.bytes(from_seq, to_seq), reason: 'evicted' };
  }

  read(after_seq: number, max_bytes: number, only?: Stream): { chunks: Told[]; last_seq: number; gap: Gap | null } {
    const gap = this.gap(after_seq + 1, this.evicted_seq);
    const chunks: Told[] = [];
    let last_seq = Math.max(after_seq, this.evicted_seq);
    let room = max_bytes;
    for (const event of this.#events) {
      if (event.seq <= last_seq || event.kind !== 'output') continue;
      if (only === undefined || event.stream === only) {
        if (chunks.length > 0 && event.bytes.length > room) return { chunks, last_seq, gap };
        chunks.push(told(event));
        room -= event.bytes.length;
      }
      last_seq = event.seq;
    }
    return { chunks, last_seq: this.next_seq - 1, gap };
  }

  /** Everything a follower after `after_seq` is told: each run of missing events as one gap, the ends never missing. */
  follow(after_seq: number): Told[] {
    const out: Told[] = [];
    let missing_from: number | null = null;
    for (const event of this.#events.slice(after_seq)) {
      if (event.kind === 'output' && event.evicted) {
        missing_from ??= event.seq;
        continue;
      }
      if (missing_from !== null) out.push(toldGap(this.gap(missing_from, event.seq - 1) as Gap));
      missing_from = null;
      out.push(event.kind === 'output' ? told(event) : `${event.seq} ${event.kind}`);
    }
    return out;
  }

  #held(): Kept[] {
    return this.#events.filter((event) => event.kind === 'output' && !event.evicted);
  }
}

/** An event of the real log in the same form. */
export function toldEvent(event: ProcessEvent): Told {
  if (event.event === 'output') return told({ ...event, bytes: event.chunk });
  return event.event === 'gap' ? toldGap(event) : `${event.seq} ${event.event}`;
}

function told({ seq, stream, bytes }: { seq: number; stream: Stream; bytes: Uint8Array }): Told {
  return `${seq} ${stream} ${Buffer.from(bytes).toString('hex')}`;
}

function toldGap({ from_seq, to_seq, bytes }: Gap): Told {
  return `${from_seq}..${to_seq} gap of ${bytes}`;
}

function sizes(events: Kept[]): number {
  return events.reduce((sum, event) => sum + (event.kind === 'output' ? event.bytes.length : 0), 0);
}

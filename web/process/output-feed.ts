import { signal } from '@preact/signals';
import { GatewayError, type ProcessEvent, type ProcessInfo } from '../../src/client/index.js';
import { gateway } from '../session.js';
import { failureText } from '../ui/notices.js';
import { MAX_CHARACTERS, OutputLog } from './output-log.js';
import { WhenAttached } from './when-attached.js';

/** Time that output may take at a stretch, in milliseconds: then eyes and hands have their turn. */
const TURN_MS = 10;

/** Shortest time between two showings, in milliseconds: drawing takes longer than reading. */
const SHOW_MS = 60;

/** Pause before another attempt to attach, in milliseconds. */
const AGAIN_MS = 1_000;

/** Where to begin: at the first event, or where the newest output that is held here begins. */
type Begin = 'start' | 'end';

/** The output of one process on its way into a log, over a WebSocket that is taken up again where it broke. */
export class OutputFeed {
  readonly #process_id: string;
  #life = new AbortController();
  readonly #input = new WhenAttached();
  #wake: (() => void) | null = null;
  #log = new OutputLog();
  #showing: ReturnType<typeof setTimeout> | null = null;
  #shown_at = 0;
  /** Raised with every change of the log. */
  readonly version = signal(0);
  /** Why nothing comes: the line is lost, or the process is gone. */
  readonly trouble = signal<string | null>(null);
  /** Whether all was told. */
  readonly finished = signal(false);
  /** Whether it waits for the reader, because more would push out what is read. */
  readonly waiting = signal(false);
  /** Whether the end is watched: then the oldest lines make room. Else reading stops when the log is full. */
  #at_end = true;

  constructor(process_id: string) {
    this.#process_id = process_id;
  }

  /** Whether it began after the first output that is held. */
  skipped = false;

  get log(): OutputLog {
    return this.#log;
  }

  /** Begins, or begins anew. */
  begin(from: Begin): void {
    this.stop();
    this.#life = new AbortController();
    this.#log = new OutputLog();
    this.skipped = false;
    this.finished.value = false;
    this.trouble.value = null;
    this.#at_end = from === 'end';
    this.version.value++;
    void this.#run(from, this.#life.signal);
  }

  stop(): void {
    this.#life.abort();
    this.#input.detach();
    this.#goOn();
  }

  /** Whether the reader looks at the end. */
  watchEnd(at_end: boolean): void {
    this.#at_end = at_end;
    if (at_end) this.#goOn();
  }

  /** Feeds the program; resolves when the gateway has accepted it. */
  write(text: string): Promise<void> {
    return new Promise((resolve, reject) => this.#input.do((attached) => attached.write(text).then(resolve, reject)));
  }

  /** Closes its input. */
  end(): void {
    this.#input.do((attached) => attached.end());
  }

  async #run(from: Begin, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const after_seq = from === 'end' ? await this.#nearEnd(signal) : 0;
        const attached = await gateway.attach(this.#process_id, { after_seq, signal, on_line: (lost) => this.#line(lost) });
        this.trouble.value = null;
        this.skipped = after_seq > 0;
        if (this.skipped) this.#log.skipped();
        this.#input.attach(attached);
        for await (const events of attached) await this.#takeAll(events, signal);
        return;
      } catch (error) {
        if (signal.aborted) return;
        this.trouble.value = failureText(error);
        if (error instanceof GatewayError && error.status < 500) return;
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
    }
  }

  #line(lost: GatewayError | null): void {
    this.trouble.value = lost === null ? null : failureText(lost);
  }

  /** Where to begin so that about as much comes as the log can hold. */
  async #nearEnd(signal: AbortSignal): Promise<number> {
    const process: ProcessInfo = await gateway.get(this.#process_id, { signal });
    const { first_seq, next_seq, retained_bytes } = process;
    if (retained_bytes <= MAX_CHARACTERS) return 0;
    const held = Math.floor((next_seq - first_seq) * (MAX_CHARACTERS / retained_bytes));
    return Math.max(0, next_seq - 1 - held);
  }

  async #takeAll(events: ProcessEvent[], signal: AbortSignal): Promise<void> {
    let until = performance.now() + TURN_MS;
    for (const event of events) {
      if (this.#log.full && !this.#at_end) await this.#readerAtEnd();
      if (signal.aborted) return;
      this.#take(event);
      if (performance.now() < until) continue;
      this.#show();
      await new Promise((resolve) => setTimeout(resolve));
      until = performance.now() + TURN_MS;
    }
    this.#show();
  }

  /** Lets the page draw, at once unless it just did. */
  #show(): void {
    if (this.#showing !== null) return;
    const since = performance.now() - this.#shown_at;
    const show = () => {
      this.#showing = null;
      this.#shown_at = performance.now();
      this.version.value++;
    };
    if (since >= SHOW_MS) show();
    else this.#showing = setTimeout(show, SHOW_MS - since);
  }

  #take(event: ProcessEvent): void {
    switch (event.event) {
      case 'output':
        this.#log.append(event.stream, event.chunk);
        break;
      case 'gap':
        this.#log.gap(event);
        break;
      case 'closed':
        this.finished.value = true;
        break;
      case 'exited': // the badge tells it
    }
  }

  async #readerAtEnd(): Promise<void> {
    this.waiting.value = true;
    this.version.value++;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.waiting.value = false;
  }

  #goOn(): void {
    this.#wake?.();
    this.#wake = null;
  }
}

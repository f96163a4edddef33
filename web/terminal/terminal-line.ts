import { signal } from '@preact/signals';
import { GatewayError, type ProcessEvent, type ProcessInfo, type TtySize } from '../../src/client/index.js';
import { WhenAttached } from '../process/when-attached.js';
import { gateway } from '../session.js';
import { failureText } from '../ui/notices.js';
import type { PageTerminal } from './terminal.js';

/** Pause before another attempt to attach, in milliseconds. */
const AGAIN_MS = 1_000;

/** Connects a terminal of the page with that of a process: its screen first, then all that comes. */
export class TerminalLine {
  readonly #process: ProcessInfo;
  readonly #life = new AbortController();
  readonly #input = new WhenAttached();
  /** Why nothing comes; null while something may. */
  readonly trouble = signal<string | null>(null);
  readonly finished = signal(false);

  constructor(process: ProcessInfo) {
    this.#process = process;
  }

  /** Runs until the process has ended or the page is left. */
  async run(terminal: PageTerminal): Promise<void> {
    const { signal } = this.#life;
    while (!signal.aborted) {
      try {
        if (await this.#attach(terminal, signal)) return;
      } catch (error) {
        if (signal.aborted) return;
        this.trouble.value = failureText(error);
        if (error instanceof GatewayError && error.status < 500) return;
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
    }
  }

  type(input: string | Uint8Array): void {
    this.#input.do((attached) => attached.write(input).catch(() => {})); // the line tells when it is lost, and the badge that it ended
  }

  resize(size: TtySize): void {
    this.#input.do((attached) => attached.resize(size));
  }

  stop(): void {
    this.#life.abort();
  }

  /** True at the end; false when the screen has to be drawn anew, because output was missed. */
  async #attach(terminal: PageTerminal, signal: AbortSignal): Promise<boolean> {
    this.#input.detach();
    const attached = await gateway.attach(this.#process.process_id, {
      screen: true,
      signal,
      on_line: (lost) => {
        this.trouble.value = lost === null ? null : failureText(lost);
      },
    });
    this.trouble.value = null;
    terminal.clear();
    if (attached.process.tty !== null) terminal.take(attached.process.tty);
    this.#input.attach(attached);
    let painted = false;
    for await (const events of attached) {
      if (events.some(({ event }) => event === 'gap')) return false;
      for (const event of events) await this.#show(terminal, event);
      if (!painted && attached.process.exit_code === null) terminal.fit();
      painted = true;
    }
    if (!signal.aborted) terminal.freeze();
    return true;
  }

  async #show(terminal: PageTerminal, event: ProcessEvent): Promise<void> {
    if (event.event === 'output') await terminal.write(event.chunk);
    else if (event.event === 'closed') this.finished.value = true;
  }
}

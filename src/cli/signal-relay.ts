import { constants } from 'node:os';
import type { Foreground } from './foreground.js';

/** Signals that ask a program to end. */
export const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

/** Signals that mean what the program makes of them. */
const OTHERS = ['SIGUSR1', 'SIGUSR2'] as const;

/** How long this program waits for the end of a process whose terminal is gone, in milliseconds: the gateway may be out of reach. */
const ENDED_MS = 10_000;

/** How long this program waits with its own stop for that of the process, in milliseconds. */
const STOP_MS = 1_000;

/** How long the end of the terminal waits for the signal that tells of it, in milliseconds. */
const HANGUP_MS = 100;

/** How long after the first signal the second one kills, in milliseconds: later it is another first one. */
const TWICE_MS = 2_000;

/** What a shell tells of a program that a signal ended. */
export const signalCode = (name: NodeJS.Signals): number => 128 + constants.signals[name];

/** What the signals of this program do to a process at the gateway. */
export interface SignalRelayOptions {
  /** Every key is passed on: what still comes as a signal is meant for this program, and ends both. */
  raw: boolean;
  /** Whether signals are passed on at all; else the first one leaves. */
  pass: boolean;
  /** Whether the gateway is out of reach. */
  lost: () => boolean;
  say: (line: string) => void;
  /** Leaves at once; the process goes on. */
  leave: (exit_code: number) => void;
}

/** Passes the signals of this program on: the first as it is, the second within 2 s kills, the third leaves. */
export class SignalRelay {
  readonly #foreground: Foreground;
  readonly #options: SignalRelayOptions;
  readonly #handlers = new Map<NodeJS.Signals, () => void>();
  #count = 0;
  #first_at = 0;
  /** The signal that ended a process whose terminal is here; null when none did. */
  ended_by: NodeJS.Signals | null = null;

  constructor(foreground: Foreground, options: SignalRelayOptions) {
    this.#foreground = foreground;
    this.#options = options;
    if (!options.pass) {
      for (const name of ENDING) this.#on(name, () => foreground.detach());
      return;
    }
    for (const name of ENDING) this.#on(name, () => this.#end(name));
    for (const name of OTHERS) this.#on(name, () => void foreground.signal(name));
    if (options.raw) return;
    this.#on('SIGTSTP', () => void this.#stop());
    this.#on('SIGCONT', () => void foreground.signal('SIGCONT'));
  }

  close(): void {
    for (const [name, handler] of this.#handlers) process.off(name, handler);
  }

  /** The terminal is gone. Only the leader of a session is sent a signal then, and one that ignores it has nobody told. */
  hangUp(): void {
    const tell = () => {
      if (this.#count === 0) this.#handlers.get('SIGHUP')?.();
    };
    setTimeout(tell, HANGUP_MS);
  }

  #on(name: NodeJS.Signals, handler: () => void): void {
    this.#handlers.set(name, handler);
    process.on(name, handler);
  }

  #end(name: (typeof ENDING)[number]): void {
    const { raw, lost, say } = this.#options;
    const now = performance.now();
    if (this.#count === 1 && now - this.#first_at > TWICE_MS && !lost()) this.#count = 0;
    if (this.#count++ === 0) this.#first_at = now;
    if (this.#count === 1 && lost()) say('passed on when the connection is back; once more leaves it running');
    if (this.#count > 2 || (this.#count === 2 && lost())) this.#leave(name);
    else if (this.#count === 2) {
      say('killing it; once more leaves it');
      void this.#foreground.terminate(0);
    } else if (raw && name !== 'SIGINT') {
      this.ended_by = name;
      void this.#foreground.terminate();
      setTimeout(() => this.#leave(name), ENDED_MS).unref();
    } else void this.#foreground.signal(name);
  }

  #leave(name: NodeJS.Signals): void {
    const { say, leave } = this.#options;
    const { process_id } = this.#foreground;
    say(`it goes on as ${process_id}: exec-gateway attach ${process_id}, exec-gateway kill ${process_id}`);
    leave(signalCode(name));
  }

  /** Stops the process, then this program: its shell has the terminal again. SIGTSTP is ignored by whoever has no shell, so it is SIGSTOP there. */
  async #stop(): Promise<void> {
    await Promise.race([this.#foreground.signal('SIGSTOP'), new Promise((resolve) => setTimeout(resolve, STOP_MS))]);
    process.kill(process.pid, 'SIGSTOP');
  }
}

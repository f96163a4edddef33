import { setImmediate } from 'node:timers/promises';
import { GatewayError, MAX_SCREEN_CELLS, type ScreenOutput, type TtySize } from '../protocol/index.js';
import type { HostedProcess } from './hosted-process.js';
import { ScreenCursor } from './screen-cursor.js';
import { fits } from './screen-terminal.js';

/** Screens that are kept at once. */
const KEPT_SCREENS = 32;

/** How long a screen is kept, and drawn on, after it was asked for, in milliseconds. */
const KEPT_SCREEN_MS = 120_000;

/** How often one kept screen draws one batch without being asked, in milliseconds: a small part of a core for all of them. */
const DRAW_EVERY_MS = 50;

/**
 * The screens of terminals. One is made when it is first asked for, from the output that is held, and then kept and drawn on
 * for two minutes, so that what is evicted meanwhile has been seen. One draws at a time.
 */
export class Screens {
  /** The one asked for last is the last. */
  readonly #kept = new Map<HostedProcess, { cursor: ScreenCursor; until: number; drawn_at: number }>();
  #busy: Promise<unknown> = Promise.resolve();
  #drawing = false;
  #timer: NodeJS.Timeout | null = null;

  /**
   * Whether a process has a screen that can be shown.
   * @throws {GatewayError} `not_a_tty`, `screen_too_large`
   */
  check(process: HostedProcess): void {
    const { process_id } = process;
    const { cols, rows } = sizeOf(process);
    if (fits({ cols, rows })) return;
    const detail = `The terminal has ${cols} x ${rows} cells; a screen of up to ${MAX_SCREEN_CELLS} cells can be shown: resize it.`;
    throw new GatewayError('screen_too_large', detail, { process_id, limit: MAX_SCREEN_CELLS });
  }

  /**
   * The screen of a process as it is now.
   * @throws {GatewayError} as {@link check} does; the signal's reason
   */
  look(process: HostedProcess, paint: boolean, signal?: AbortSignal): Promise<ScreenOutput> {
    return this.#inTurn(async () => {
      signal?.throwIfAborted();
      this.check(process);
      const cursor = this.#cursor(process);
      await cursor.catchUp();
      const { cols, rows } = sizeOf(process);
      return { process_id: process.process_id, cols, rows, ...cursor.show(paint) };
    });
  }

  /** Lets a screen go. */
  forget(process: HostedProcess): void {
    this.#kept.delete(process);
  }

  /** Lets all go. */
  close(): void {
    this.#kept.clear();
    this.#stop();
  }

  #inTurn<T>(draw: () => Promise<T>): Promise<T> {
    const done = this.#busy.then(draw);
    // Many who ask at once do not hold up everything else.
    this.#busy = done.catch(() => undefined).then(() => setImmediate());
    return done;
  }

  #cursor(process: HostedProcess): ScreenCursor {
    const now = performance.now();
    const cursor = this.#kept.get(process)?.cursor ?? new ScreenCursor(process);
    this.#kept.delete(process);
    this.#kept.set(process, { cursor, until: now + KEPT_SCREEN_MS, drawn_at: now });
    const [oldest] = this.#kept.keys();
    if (oldest && this.#kept.size > KEPT_SCREENS) this.#kept.delete(oldest);
    this.#timer ??= setInterval(() => this.#drawOn(), DRAW_EVERY_MS).unref();
    return cursor;
  }

  /** Lets the screen that waited longest draw a batch, unless the last is still at it. */
  #drawOn(): void {
    const now = performance.now();
    for (const [process, { until }] of this.#kept) if (until <= now) this.#kept.delete(process);
    if (this.#kept.size === 0) this.#stop();
    if (this.#drawing) return;
    const behind = [...this.#kept.values()].filter(({ cursor }) => cursor.behind);
    const next = behind.sort((a, b) => a.drawn_at - b.drawn_at)[0];
    if (next === undefined) return;
    next.drawn_at = now;
    this.#drawing = true;
    const draw = this.#inTurn(() => next.cursor.advance());
    // What could not be read now, for want of descriptors, is drawn with the next batch.
    void draw
      .catch(() => {})
      .finally(() => {
        this.#drawing = false;
      });
  }

  #stop(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
  }
}

/** @throws {GatewayError} `not_a_tty` */
function sizeOf({ process_id, tty }: HostedProcess): TtySize {
  if (tty) return tty;
  throw new GatewayError('not_a_tty', 'Only a terminal has a screen: start the process with tty.', { process_id });
}

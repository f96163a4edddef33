/** How long a receipt waits for output to go with, in milliseconds: most input is echoed sooner. */
const RECEIPT_HOLD_MS = 10;

/** Accepted bytes at which a receipt goes at once: a viewer may wait for it before it sends more. */
const AT_ONCE_BYTES = 32 * 1024;

/** Tells a viewer how much input was accepted, seldom enough to cost nothing while one types. */
export class Receipts {
  readonly #send: (accepted_bytes: number) => void;
  #due: number | null = null;
  #given = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(send: (accepted_bytes: number) => void) {
    this.#send = send;
  }

  add(accepted_bytes: number): void {
    this.#due = accepted_bytes;
    if (accepted_bytes - this.#given >= AT_ONCE_BYTES) this.give();
    else this.#timer ??= setTimeout(() => this.give(), RECEIPT_HOLD_MS);
  }

  /** Sends the receipt that is due, if one is. */
  give(): void {
    const due = this.#due;
    this.drop();
    if (due === null) return;
    this.#given = due;
    this.#send(due);
  }

  /** Forgets what is due. */
  drop(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#due = null;
  }
}

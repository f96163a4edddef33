/** A signal ended this program before there was a process to pass it on to. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
  readonly signal: NodeJS.Signals;

  constructor(signal: NodeJS.Signals) {
    super(`interrupted by ${signal}`);
    this.signal = signal;
  }
}

/** Tells a person once that the gateway is out of reach, and once that it is back, whichever of several calls notices. */
export class ConnectionNotice {
  readonly #say: (line: string) => void;
  #lost = 0;
  /** Whether there was a connection. */
  connected = false;
  /** What a person can do who does not want to wait; told with the loss. */
  leave_by = '';
  /** Called when the gateway is back. */
  onBackAgain: () => void = () => {};

  /** @param say writes one line on stderr */
  constructor(say: (line: string) => void) {
    this.#say = say;
  }

  /** Whether the gateway is out of reach. */
  get lost(): boolean {
    return this.#lost > 0;
  }

  readonly onLost = (): void => {
    if (this.#lost++ > 0) return;
    const what = this.connected ? 'connection lost' : 'the gateway cannot be reached';
    this.#say(`${what}, trying again…${this.leave_by && ` (${this.leave_by})`}`);
  };

  readonly onBack = (): void => {
    if (--this.#lost > 0) return;
    this.#say(this.connected ? 'the connection is back' : 'the gateway is reached');
    this.onBackAgain();
  };
}

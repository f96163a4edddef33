import { ATTACH_HEAD_BYTES, setAttachNumber } from '../protocol/attach-frame.js';

/** Largest message of input, in bytes. */
const PIECE_BYTES = 32 * 1024;

/** Input on its way that is not accepted yet, in bytes: below what makes a gateway stop reading, so that a signal passes. */
const WINDOW_BYTES = 128 * 1024;

interface Piece {
  bytes: Uint8Array;
  settle: { resolve: () => void; reject: (error: unknown) => void } | null;
}

/** Sends on the connection there is, as text or bytes; false when there is none. */
type Send = (message: string | Uint8Array<ArrayBuffer>) => boolean;

/** Input that is not accepted yet: what a dropped connection swallowed is sent again, and what it delivered is not. */
export class AttachOutbox {
  readonly #send: Send;
  #pieces: Piece[] = [];
  /** Where the first piece begins in the whole input. */
  #base = 0;
  /** Pieces that are on their way, and their bytes. */
  #sent = 0;
  #sent_bytes = 0;
  #ended = false;

  constructor(send: Send) {
    this.#send = send;
  }

  /** Resolves when all is accepted. */
  push(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
        const settle = at + PIECE_BYTES >= bytes.length ? { resolve, reject } : null;
        this.#pieces.push({ bytes: bytes.slice(at, at + PIECE_BYTES), settle });
      }
      if (bytes.length === 0) resolve();
      this.flush();
    });
  }

  /** The end of the input, after what was pushed. */
  end(): void {
    this.#ended = true;
    this.flush();
  }

  /** Sends what there is room for. */
  flush(): void {
    for (let piece = this.#pieces[this.#sent]; piece && this.#sent_bytes < WINDOW_BYTES; piece = this.#pieces[this.#sent]) {
      const message = new Uint8Array(ATTACH_HEAD_BYTES + piece.bytes.length);
      setAttachNumber(message, this.#base + this.#sent_bytes);
      message.set(piece.bytes, ATTACH_HEAD_BYTES);
      if (!this.#send(message)) return;
      this.#sent += 1;
      this.#sent_bytes += piece.bytes.length;
    }
    if (this.#ended && this.#sent === this.#pieces.length) this.#send('{"type":"eof"}');
  }

  /** So much of the whole input is accepted: ours up to there. */
  accepted(accepted_bytes: number): void {
    this.#take(accepted_bytes);
    if (this.#pieces.length > this.#sent) this.flush();
  }

  #take(accepted_bytes: number): void {
    let taken = Math.min(accepted_bytes - this.#base, this.#sent_bytes);
    if (taken <= 0) return;
    this.#base += taken;
    this.#sent_bytes -= taken;
    for (let piece = this.#pieces[0]; piece && taken > 0; piece = this.#pieces[0]) {
      if (piece.bytes.length > taken) {
        piece.bytes = piece.bytes.subarray(taken);
        break;
      }
      taken -= piece.bytes.length;
      this.#pieces.shift();
      this.#sent -= 1;
      piece.settle?.resolve();
    }
  }

  /** A connection begins: what the one before delivered is not sent again. */
  connected(accepted_bytes: number): void {
    this.#take(accepted_bytes);
    this.#rebase(accepted_bytes);
  }

  /** Others have written: ours goes on after them. */
  goOn(accepted_bytes: number): void {
    this.#send(JSON.stringify({ type: 'input', offset: accepted_bytes }));
    this.#rebase(accepted_bytes);
  }

  /** Nothing more will be accepted. */
  fail(error: unknown): void {
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#sent = 0;
    this.#sent_bytes = 0;
    for (const { settle } of pieces) settle?.reject(error);
  }

  #rebase(accepted_bytes: number): void {
    this.#base = accepted_bytes;
    this.#sent = 0;
    this.#sent_bytes = 0;
    this.flush();
  }
}

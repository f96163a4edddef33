import { type Signal, signal } from '@preact/signals';
import { sendAsGiven } from '../session.js';
import { failureText } from '../ui/notices.js';
import type { CallRequest } from './call-request.js';
import { MAX_BODY_BYTES, type ShownBody, StreamText, shownBody } from './reply-body.js';

/** What is known of a reply. */
export interface AttemptState {
  /** `cut`: only the beginning was taken. */
  phase: 'sending' | 'receiving' | 'complete' | 'cut' | 'stopped' | 'failed';
  /** Null until it has begun. */
  status: number | null;
  status_text: string;
  headers: [name: string, value: string][];
  /** How much of the body has come. */
  bytes: number;
  /** From sending to the beginning of the reply, in milliseconds; null before. */
  took_ms: number | null;
  body: ShownBody;
  /** Why it failed. */
  failure: string | null;
}

const NOTHING: AttemptState = {
  phase: 'sending',
  status: null,
  status_text: '',
  headers: [],
  bytes: 0,
  took_ms: null,
  body: { kind: 'none' },
  failure: null,
};

/** A request on its way, and what is answered to it. */
export class Attempt {
  readonly state: Signal<AttemptState> = signal(NOTHING);
  readonly #life = new AbortController();
  /** The body as it came, as far as it was taken; of a stream nothing. */
  content: Uint8Array = new Uint8Array();

  constructor(request: CallRequest) {
    void this.#send(request);
  }

  /** Takes no more of it. */
  stop(): void {
    this.#life.abort();
  }

  async #send(request: CallRequest): Promise<void> {
    const { method, path, headers, body, live } = request;
    const began = performance.now();
    try {
      const reply = await sendAsGiven(path, { method, headers, body, signal: this.#life.signal });
      this.#tell({
        phase: 'receiving',
        status: reply.status,
        status_text: reply.statusText,
        headers: [...reply.headers],
        took_ms: performance.now() - began,
      });
      await (live && reply.ok ? this.#follow(reply) : this.#read(reply));
    } catch (error) {
      if (this.#life.signal.aborted) this.#tell({ phase: 'stopped' });
      else this.#tell({ phase: 'failed', failure: failureText(error) });
    }
  }

  async #follow(reply: Response): Promise<void> {
    const text = new StreamText();
    for await (const bytes of parts(reply)) {
      this.#tell({ bytes: this.state.value.bytes + bytes.length, body: { kind: 'text', text: text.add(bytes) } });
    }
    this.#tell({ phase: 'complete' });
  }

  async #read(reply: Response): Promise<void> {
    const all: Uint8Array[] = [];
    let taken = 0;
    let phase: AttemptState['phase'] = 'complete';
    for await (const bytes of parts(reply)) {
      all.push(bytes);
      taken += bytes.length;
      this.#tell({ bytes: taken });
      if (taken <= MAX_BODY_BYTES) continue;
      phase = 'cut';
      break; // which lets go of the connection
    }
    this.content = joined(all, Math.min(taken, MAX_BODY_BYTES));
    this.#tell({ phase, body: shownBody(reply.headers.get('content-type') ?? '', this.content) });
  }

  #tell(change: Partial<AttemptState>): void {
    this.state.value = { ...this.state.value, ...change };
  }
}

async function* parts({ body }: Response): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  if (reader === undefined) return;
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value;
  } finally {
    await reader.cancel().catch(() => {}); // it has ended, or broken
  }
}

function joined(parts: Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part.subarray(0, length - at), at);
    at += part.length;
    if (at >= length) break;
  }
  return whole;
}

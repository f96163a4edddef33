import { createParser } from 'eventsource-parser';

/** One event as it arrived. */
export interface Arrived {
  event: string | undefined;
  id: string | undefined;
  data: string;
  /** When it arrived, in milliseconds since 1970. */
  at: number;
}

/** Reads an event stream as fast as it comes, and keeps everything. */
export class EventReader {
  readonly reply: Response;
  readonly events: Arrived[] = [];
  comments = 0;
  text = '';
  /** How the stream ended; null while it goes on. */
  ended: 'complete' | 'broken' | null = null;
  readonly #abort: AbortController;
  readonly #looks = new Set<() => void>();

  private constructor(reply: Response, abort: AbortController) {
    this.reply = reply;
    this.#abort = abort;
  }

  /** @param headers of the request; give the token here */
  static async open(url: string, headers: Record<string, string>): Promise<EventReader> {
    const abort = new AbortController();
    const reply = await fetch(url, { headers, signal: abort.signal });
    if (reply.status !== 200) throw new Error(`${reply.status}: ${await reply.text()}`);
    const reader = new EventReader(reply, abort);
    void reader.#read();
    return reader;
  }

  /** Resolves when it has come to that, with whether it was before the stream ended. */
  until(enough: (reader: EventReader) => boolean): Promise<boolean> {
    return new Promise((resolve) => {
      const look = () => {
        if (!enough(this) && this.ended === null) return;
        this.#looks.delete(look);
        resolve(enough(this));
      };
      this.#looks.add(look);
      look();
    });
  }

  /** The text of all output so far. */
  output(): string {
    return this.events
      .filter(({ event }) => event === 'output')
      .map(({ data }) => Buffer.from(JSON.parse(data).chunk, 'base64').toString())
      .join('');
  }

  close(): void {
    this.#abort.abort();
  }

  async #read(): Promise<void> {
    const parser = createParser({
      onEvent: ({ event, id, data }) => void this.events.push({ event, id, data, at: Date.now() }),
      onComment: () => void this.comments++,
    });
    const decoder = new TextDecoder();
    try {
      for await (const bytes of this.reply.body as ReadableStream<Uint8Array>) {
        const text = decoder.decode(bytes, { stream: true });
        this.text += text;
        parser.feed(text);
        this.#look();
      }
      this.ended = 'complete';
    } catch {
      this.ended = 'broken';
    }
    this.#look();
  }

  #look(): void {
    for (const look of [...this.#looks]) look();
  }
}

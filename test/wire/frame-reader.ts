import { get, type IncomingMessage } from 'node:http';
import { FrameDecoder } from '../../src/client/frame-decoder.js';
import { EVENT_FRAMES_TYPE, FRAME_HEARTBEAT, MAX_CHUNK_BYTES } from '../../src/protocol/index.js';
import type { ProcessEvent } from '../../src/protocol/output.js';

/** Reads the events of a process with their bytes as they are; nothing before it is told to. */
export class FrameReader {
  readonly reply: IncomingMessage;
  readonly #decoder = new FrameDecoder(MAX_CHUNK_BYTES);
  /** Whether it ended as it should; null while it goes on. */
  whole: boolean | null = null;
  /** Called for each heartbeat that came by itself. */
  onBeat: () => void = () => {};

  private constructor(reply: IncomingMessage) {
    this.reply = reply;
  }

  /** @param headers of the request; give the token here */
  static open(url: string, headers: Record<string, string>): Promise<FrameReader> {
    return new Promise((resolve, reject) => {
      const request = get(url, { headers: { accept: EVENT_FRAMES_TYPE, ...headers }, agent: false });
      request.on('response', (reply) => resolve(new FrameReader(reply))).on('error', reject);
    });
  }

  /** All events, until the end. */
  async all(): Promise<ProcessEvent[]> {
    const all: ProcessEvent[] = [];
    for await (const event of this.events()) all.push(event);
    return all;
  }

  /** The events as they come, until the end. */
  async *events(): AsyncGenerator<ProcessEvent, void> {
    try {
      for await (const bytes of this.reply) {
        if (bytes.toString() === FRAME_HEARTBEAT) this.onBeat();
        yield* this.#decoder.take(bytes);
      }
      this.whole = true;
    } catch {
      this.whole = false;
    }
  }
}

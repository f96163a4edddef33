import { type ClientRequest, get, type IncomingMessage } from 'node:http';

/** Reads a stream without keeping it: a test that reads gigabytes only counts them. */
abstract class Meter {
  bytes = 0;
  /** How the transfer ended; null while it goes on. */
  ended: 'complete' | 'broken' | null = null;
  /** Resolves when the reply has begun. */
  readonly opened: Promise<this>;
  /** Resolves when the transfer has ended. */
  readonly done: Promise<this>;
  #reply: IncomingMessage | null = null;
  #stalled = false;
  readonly #request: ClientRequest;

  protected constructor(url: string, token: string | null) {
    const headers = token === null ? {} : { authorization: `Bearer ${token}` };
    this.#request = get(url, { headers, agent: false });
    this.opened = new Promise((resolve, reject) => {
      this.#request.on('response', () => resolve(this)).on('error', reject);
    });
    this.done = new Promise((resolve) => {
      const end = (how: 'complete' | 'broken') => {
        this.ended ??= how;
        resolve(this);
      };
      this.#request.on('error', () => end('broken'));
      this.#request.on('response', (reply) => {
        this.#reply = reply;
        this.started(reply);
        reply.on('end', () => end('complete'));
        reply.on('error', () => end('broken'));
        reply.on('data', (bytes: Buffer) => this.take(bytes));
        if (this.#stalled) reply.pause();
      });
    });
  }

  protected abstract take(bytes: Buffer): void;
  protected abstract started(reply: IncomingMessage): void;

  /** Does not read its socket from here on. */
  stall(): this {
    this.#stalled = true;
    this.#reply?.pause();
    return this;
  }

  resume(): void {
    this.#stalled = false;
    this.#reply?.resume();
  }

  close(): void {
    this.#request.destroy();
  }
}

/** Follows a process by events. */
export class EventMeter extends Meter {
  last_seq = 0;
  readonly gaps: { from_seq: number; to_seq: number; bytes: number | null }[] = [];
  exits = 0;
  closes = 0;
  /** Events that did not follow on the one before. */
  holes = 0;
  #rest = '';

  constructor(base: string, process_id: string, token: string | null) {
    super(`${base}/processes/${process_id}/events`, token);
  }

  /** Output told and output reported missing, in bytes. */
  get accounted(): number {
    return this.gaps.reduce((sum, { bytes }) => sum + (bytes ?? Number.NaN), this.bytes);
  }

  protected started(): void {}

  protected take(bytes: Buffer): void {
    const text = this.#rest + bytes.toString('latin1');
    let at = 0;
    for (let end = text.indexOf('\n\n', at); end >= 0; end = text.indexOf('\n\n', at)) {
      if (text[at] !== ':') this.#event(text.slice(at, end));
      at = end + 2;
    }
    this.#rest = text.slice(at);
  }

  #event(text: string): void {
    const seq = Number(text.slice(4, text.indexOf('\n')));
    const data = text.slice(text.indexOf('data: ') + 6);
    if (text.includes('\nevent: gap\n')) {
      const gap = JSON.parse(data);
      this.gaps.push(gap);
      if (gap.from_seq !== this.last_seq + 1) this.holes++;
    } else if (seq !== this.last_seq + 1) this.holes++;
    this.last_seq = seq;
    if (text.includes('\nevent: exited\n')) this.exits++;
    else if (text.includes('\nevent: closed\n')) this.closes++;
    else if (text.includes('\nevent: output\n')) this.bytes += decodedLength(data);
  }
}

/** Follows a process by raw bytes. */
export class ByteMeter extends Meter {
  gap: string | undefined;

  constructor(base: string, process_id: string, token: string | null) {
    super(`${base}/processes/${process_id}/output?follow=true`, token);
  }

  protected started(reply: IncomingMessage): void {
    this.gap = reply.headers['exec-gap']?.toString();
  }

  protected take(bytes: Buffer): void {
    this.bytes += bytes.length;
  }
}

/** Bytes of the base64 text at the end of an output event's data. */
function decodedLength(data: string): number {
  const begin = data.indexOf('"chunk":"') + 9;
  const padding = data.endsWith('=="}') ? 2 : data.endsWith('="}') ? 1 : 0;
  return ((data.length - 2 - begin) / 4) * 3 - padding;
}

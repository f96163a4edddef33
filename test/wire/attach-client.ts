import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { AttachEvent } from '../../src/protocol/attach.js';
import { ATTACH_PROTOCOL } from '../../src/protocol/attach-frame.js';
import { mustBeDescribed } from '../support/described.js';
import type { WireGateway } from './use-gateway.js';

type Headers = Record<string, string | string[] | undefined>;

/** The answer to a request that was not upgraded. */
export interface Refusal {
  status: number;
  headers: Headers;
  body: Record<string, unknown>;
}

/** A WebSocket as programs have it, on a process. */
export class AttachClient {
  readonly socket: WebSocket;
  /** Messages in the order they came: text as parsed JSON, bytes as they are. */
  readonly messages: (AttachEvent | Buffer)[] = [];
  headers: Headers = {};
  end: { code: number; reason: string } | null = null;
  #wake: () => void = () => {};

  constructor(url: string, protocols: string[], headers: Record<string, string>) {
    this.socket = new WebSocket(url, protocols, { headers, perMessageDeflate: true });
    this.socket.on('upgrade', ({ headers }) => {
      this.headers = headers;
    });
    this.socket.on('message', (bytes: Buffer, binary) => this.#add(binary ? bytes : JSON.parse(bytes.toString())));
    this.socket.on('error', () => {});
    this.socket.on('close', (code, reason) => {
      this.end = { code, reason: reason.toString() };
      this.#wake();
    });
  }

  /** Connects to a path of a gateway, with its token. */
  static async open(gateway: WireGateway, path: string, numbered = true, base = gateway.server.url): Promise<AttachClient> {
    const headers = { authorization: `Bearer ${gateway.server.token}` };
    const client = new AttachClient(base.replace('http', 'ws') + path, numbered ? [ATTACH_PROTOCOL] : [], headers);
    await once(client.socket, 'open');
    return client;
  }

  /** All bytes so far, without the numbers ahead of them. */
  bytes(numbered = true): Buffer {
    return Buffer.concat(this.messages.flatMap((message) => (Buffer.isBuffer(message) ? [message.subarray(numbered ? 8 : 0)] : [])));
  }

  text(numbered = true): string {
    return this.bytes(numbered).toString();
  }

  /** The numbers of all events so far. */
  seqs(): number[] {
    return this.messages.flatMap((message) => {
      if (Buffer.isBuffer(message)) return [Number(message.readBigUInt64BE(0))];
      return 'seq' in message ? [message.seq] : [];
    });
  }

  /** The text messages of a type so far. */
  all<Type extends AttachEvent['type']>(type: Type): Extract<AttachEvent, { type: Type }>[] {
    return this.messages.filter((message) => !Buffer.isBuffer(message) && message.type === type) as never;
  }

  async first<Type extends AttachEvent['type']>(type: Type): Promise<Extract<AttachEvent, { type: Type }>> {
    await this.until(() => this.all(type).length > 0);
    return this.all(type)[0]!;
  }

  send(message: object): void {
    this.socket.send(JSON.stringify(message));
  }

  /** Input from an offset on. */
  input(offset: number, bytes: Uint8Array | string): void {
    const head = Buffer.alloc(8);
    head.writeBigUInt64BE(BigInt(offset));
    this.socket.send(Buffer.concat([head, typeof bytes === 'string' ? Buffer.from(bytes) : bytes]));
  }

  /** Resolves when it holds; fails when the connection ends before. */
  async until(ready: () => boolean): Promise<void> {
    while (!ready()) {
      if (this.end) throw new Error(`It ended before: ${JSON.stringify(this.end)}, ${JSON.stringify(this.messages.slice(-3))}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async untilEnd(): Promise<{ code: number; reason: string }> {
    if (this.end === null) await once(this.socket, 'close');
    return this.end!;
  }

  #add(message: AttachEvent | Buffer): void {
    this.messages.push(message);
    this.#wake();
  }
}

/** What an upgrade is refused with, once the connection is over. */
export function refusal(url: string, headers: Record<string, string>, protocols: string[] = []): Promise<Refusal> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url.replace('http', 'ws'), protocols, { headers });
    socket.on('error', () => {});
    socket.on('open', () => reject(new Error('It was upgraded.')));
    socket.on('unexpected-response', (_request, response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('close', () => {
        const refused = { status: response.statusCode as number, headers: response.headers, body: JSON.parse(text) };
        mustBeDescribed('GET', new URL(url).pathname, refused.status, refused.body.code);
        resolve(refused);
      });
    });
  });
}

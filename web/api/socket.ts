import { type Signal, signal } from '@preact/signals';
import { BASE_URL } from '../base-url.js';
import type { CallRequest } from './call-request.js';
import { bytesShown } from './reply-body.js';

/** A message of a WebSocket. */
export interface SocketMessage {
  id: number;
  from: 'gateway' | 'page';
  text: string;
  /** Of bytes. */
  bytes: number | null;
}

interface SocketState {
  phase: 'connecting' | 'open' | 'closed';
  /** Oldest first, the newest of them. */
  messages: SocketMessage[];
  /** How it ended. */
  end: string | null;
  /** Whether it was refused before it began. */
  refused: boolean;
}

const MAX_MESSAGES = 200;

/** A WebSocket, and what goes over it. */
export class Socket {
  readonly state: Signal<SocketState> = signal({ phase: 'connecting', messages: [], end: null, refused: false });
  readonly #socket: WebSocket;
  #last_id = 0;

  /** @throws {DOMException} for a subprotocol that a browser does not send */
  constructor({ path, headers }: CallRequest) {
    const protocols = headers
      .filter(([name]) => name.toLowerCase() === 'sec-websocket-protocol')
      .flatMap(([, value]) => value.split(/\s*,\s*/));
    this.#socket = new WebSocket(BASE_URL.replace(/^http/, 'ws') + path, protocols);
    this.#socket.binaryType = 'arraybuffer';
    this.#socket.onopen = () => this.#tell({ phase: 'open' });
    this.#socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => this.#add('gateway', data);
    this.#socket.onclose = ({ code, reason }) => {
      const refused = this.state.value.phase === 'connecting';
      this.#tell({ phase: 'closed', refused, end: `Closed with ${code}${reason === '' ? '' : `: ${reason}`}` });
    };
  }

  send(text: string): void {
    this.#socket.send(text);
    this.#add('page', text);
  }

  close(): void {
    this.#socket.close(1000);
  }

  #add(from: SocketMessage['from'], data: string | ArrayBuffer): void {
    const is_text = typeof data === 'string';
    const message = {
      id: ++this.#last_id,
      from,
      text: is_text ? data : bytesShown(new Uint8Array(data)),
      bytes: is_text ? null : data.byteLength,
    };
    this.#tell({ messages: [...this.state.value.messages, message].slice(-MAX_MESSAGES) });
  }

  #tell(change: Partial<SocketState>): void {
    this.state.value = { ...this.state.value, ...change };
  }
}

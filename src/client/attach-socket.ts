import { GatewayError } from '../protocol/error.js';

/** What is used of a WebSocket: that of browsers, of Node 22 and later, or the class of the package `ws`. */
export interface SocketLike {
  binaryType: string;
  readonly readyState: number;
  send(data: string | Uint8Array<ArrayBuffer>): void;
  close(code?: number, reason?: string): void;
  /** Stops reading; only `ws` can. */
  pause?(): void;
  resume?(): void;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
}

/** A class of WebSockets. */
// biome-ignore lint/suspicious/noExplicitAny: browsers, Node and ws take different things to make one.
export type SocketClass = new (url: string, ...rest: any[]) => SocketLike;

const OPEN = 1;

/**
 * Makes a WebSocket with headers where that can be: everywhere but in browsers.
 * @throws {GatewayError} `invalid_argument` when there is no class of WebSockets, or it takes no headers or not the address
 */
export function openSocket(given: SocketClass | undefined, url: string, protocol: string, headers: Record<string, string>): SocketLike {
  const own = (globalThis as { WebSocket?: SocketClass }).WebSocket;
  const Socket = given ?? own;
  if (Socket === undefined) {
    const detail = 'There is no WebSocket here: give the class of one as WebSocket, such as that of the package ws.';
    throw new GatewayError('invalid_argument', detail, { field: 'WebSocket' });
  }
  const plain = Object.keys(headers).length === 0;
  try {
    if (plain) return new Socket(url, protocol);
    return Socket === own ? new Socket(url, { protocols: [protocol], headers }) : new Socket(url, [protocol], { headers });
  } catch (cause) {
    // A browser takes the options for the name of a subprotocol.
    const { message } = cause as Error;
    const detail = plain
      ? `No WebSocket can be made to the address: ${message}`
      : `This WebSocket, as that of every browser, sends no token and no other header: give ticket in their place. (${message})`;
    throw new GatewayError('invalid_argument', detail, { field: plain ? 'url' : 'ticket' }, { cause });
  }
}

/** How a connection ended. */
export interface SocketEnd {
  code: number;
  reason: string;
}

/** Whom a connection tells. */
export interface SocketEvents {
  text(message: string): void;
  bytes(message: Uint8Array): void;
  ended(end: SocketEnd): void;
}

/** Listens to a WebSocket; the answer ends that. */
export function listen(socket: SocketLike, events: SocketEvents): () => void {
  socket.binaryType = 'arraybuffer';
  socket.onmessage = ({ data }: { data: string | ArrayBuffer }) => {
    if (typeof data === 'string') events.text(data);
    else events.bytes(new Uint8Array(data));
  };
  socket.onclose = ({ code, reason }: SocketEnd) => events.ended({ code, reason });
  socket.onerror = () => {}; // its end follows, and tells as much
  return () => {
    socket.onmessage = null;
    socket.onclose = null;
  };
}

/** Whether something can be sent. */
export const isOpen = (socket: SocketLike | null): socket is SocketLike => socket?.readyState === OPEN;

/** A close with 4000 + status tells a code; the rest of the error was told before, if at all. */
export function endReason(code: number, reason: string): unknown {
  if (code < 4000) return {};
  try {
    return { detail: `The gateway ended the connection (${code}).`, ...JSON.parse(reason) };
  } catch {
    return {};
  }
}

import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { GatewayApp } from './gateway-app.js';

/** When a caller that closed its sending side is first asked whether it is still there, in milliseconds: quick replies go before. */
const FIRST_ASK_MS = 100;

/** How often it is asked, each time after twice as long: clients take 16 digits of a chunk's size, and it may need five itself. */
const MOST_ASKS = 11;

/** The status of a connection that speaks another protocol by now: nothing of HTTP may be sent on it. */
const SWITCHED = 101;

/**
 * Keeps count of the replies each connection has still to carry, and makes their `close` event true: Node emits it only
 * for the reply that is being sent, never for those of pipelined requests that wait behind it when the connection ends.
 * A caller that only closed its sending side (`nc -N`) is answered like any other.
 */
export function addConnections(app: GatewayApp): void {
  Object.assign(app.server, { httpAllowHalfOpen: true });
  const connections = new WeakMap<Socket, Connection>();
  app.addHook('onRequest', (request, reply, done) => {
    const { socket } = request.raw;
    let connection = connections.get(socket);
    if (connection === undefined) {
      connection = new Connection(socket);
      connections.set(socket, connection);
    }
    connection.add(reply.raw);
    done();
  });
}

class Connection {
  readonly #socket: Socket;
  readonly #replies = new Set<ServerResponse>();
  #asking: NodeJS.Timeout | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.once('end', () => this.#askLater(FIRST_ASK_MS, MOST_ASKS));
    socket.once('close', () => this.#close());
  }

  add(reply: ServerResponse): void {
    this.#replies.add(reply);
    reply.once('close', () => this.#replies.delete(reply));
  }

  #close(): void {
    clearTimeout(this.#asking);
    for (const reply of this.#replies) {
      if (reply.socket !== null || reply.writableFinished) continue; // Node tells these
      reply.destroy();
      reply.emit('close');
    }
  }

  /** A connection that was closed whole looks the same until something is sent: the first answer resets it, the next write tells. */
  #askLater(ms: number, asks: number): void {
    this.#asking = setTimeout(() => {
      this.#ask();
      if (asks > 1) this.#askLater(ms * (asks === MOST_ASKS ? 1 : 2), asks - 1);
    }, ms);
  }

  /**
   * Sends what every client passes over: before a reply an interim one (RFC 9110 §15.2.1), between chunks a leading zero
   * of the next one's size (RFC 9112 §7.1). HTTP/1.0 has neither.
   */
  #ask(): void {
    const reply = [...this.#replies].find(({ socket, statusCode }) => socket !== null && statusCode !== SWITCHED);
    if (reply === undefined || this.#socket.writableLength > 0) return;
    if (reply.headersSent) {
      if (reply.chunkedEncoding && !reply.writableEnded) this.#socket.write('0');
    } else if (reply.req.httpVersion === '1.1') reply.writeContinue();
  }
}

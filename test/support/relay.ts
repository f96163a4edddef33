import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A way to a gateway that can be cut: TCP, byte by byte, nothing understood. */
export class Relay {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly url: string;
  /** How many connections were made. */
  connections = 0;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** @param target the gateway's URL; it must allow the host 127.0.0.1 at any port */
  static async open(target: string): Promise<Relay> {
    const { hostname, port } = new URL(target);
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const relay = new Relay(server);
    server.on('connection', (near) => relay.#join(near, connect(Number(port), hostname)));
    return relay;
  }

  /** Breaks all connections there are, in both directions. */
  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async close(): Promise<void> {
    this.#server.close();
    this.cut();
    await once(this.#server, 'close');
  }

  #join(near: Socket, far: Socket): void {
    this.connections++;
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  }
}

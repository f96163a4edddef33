import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A line between a client and a gateway: what one end of a connection loses, the other loses too. */
export class Line implements AsyncDisposable {
  readonly #sockets = new Set<Socket>();
  readonly #server;
  /** Connections so far. */
  count = 0;
  /** Connections that were cut. */
  cuts = 0;

  /** @param carry connects the two ends of a connection, counted from 0 */
  protected constructor(target: URL, carry: (near: Socket, far: Socket, count: number) => void) {
    this.#server = createServer((near) => {
      const far = connect({ host: target.hostname, port: Number(target.port) });
      for (const socket of [near, far]) {
        this.#sockets.add(socket);
        socket
          .on('error', () => {})
          .on('close', () => {
            this.#sockets.delete(socket);
            near.destroy();
            far.destroy();
          });
      }
      carry(near, far, this.count++);
    });
  }

  protected async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Breaks every connection there is; new ones are carried. */
  breakAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.breakAll();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A line that carries so many bytes towards a gateway on each connection, counted from 0, and is then reset; null lets it live. */
export class Uplink implements AsyncDisposable {
  readonly #sockets = new Set<Socket>();
  readonly #server;
  cuts = 0;

  private constructor(target: URL, room: (count: number) => number | null) {
    let count = 0;
    this.#server = createServer((near) => {
      let left = room(count++) ?? Number.POSITIVE_INFINITY;
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
      far.pipe(near);
      near.on('data', (bytes) => {
        far.write(bytes.subarray(0, left));
        left -= bytes.length;
        if (left > 0) return;
        this.cuts++;
        near.resetAndDestroy();
        far.end();
      });
    });
  }

  static async open(target: string, room: (count: number) => number | null): Promise<Uplink> {
    const uplink = new Uplink(new URL(target), room);
    await new Promise<void>((resolve) => uplink.#server.listen(0, '127.0.0.1', resolve));
    return uplink;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

const CLOSING_BRACE = '}'.charCodeAt(0);

/**
 * Decides for each connection, counted from 0, after how many bytes of answer it is cut; null lets it live. 0 cuts it as
 * soon as a request with a JSON body was passed on: it arrives, and its answer does not.
 */
export type Cut = (count: number) => number | null;

/** A line between client and gateway that breaks: it forwards bytes, and resets connections after some of the answer. */
export class CuttingProxy implements AsyncDisposable {
  readonly #sockets = new Set<Socket>();
  readonly #server;
  /** Connections so far. */
  count = 0;
  /** Connections that were cut. */
  cuts = 0;

  private constructor(target: URL, cut: Cut) {
    this.#server = createServer((near) => {
      let room = cut(this.count++) ?? Number.POSITIVE_INFINITY;
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
      near.on('data', (bytes) => {
        far.write(bytes);
        if (room > 0 || bytes.at(-1) !== CLOSING_BRACE) return;
        this.cuts++;
        far.end();
        near.resetAndDestroy();
      });
      far.on('data', (bytes) => {
        if (room <= 0) return; // cut already: more of the answer may still arrive
        near.write(bytes.subarray(0, room));
        room -= bytes.length;
        if (room > 0) return;
        this.cuts++;
        near.resetAndDestroy();
      });
    });
  }

  static async open(target: string, cut: Cut): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(new URL(target), cut);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

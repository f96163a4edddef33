import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';

/** Passes connections on to a gateway and cuts the first of them after some bytes of their answers. */
export class CuttingProxy implements AsyncDisposable {
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer({ allowHalfOpen: false }, (socket) => this.#pass(socket));
  readonly #port: number;
  readonly #bytes: number[];
  cuts = 0;

  /** @param bytes how many of its answer's bytes each of the first connections gets */
  private constructor(port: number, bytes: number[]) {
    this.#port = port;
    this.#bytes = bytes;
  }

  static async open(url: string, bytes: number[]): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(Number(new URL(url).port), [...bytes]);
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

  #pass(caller: Socket): void {
    const gateway = connect(this.#port, '127.0.0.1');
    const end = () => {
      caller.destroy();
      gateway.destroy();
    };
    for (const socket of [caller, gateway]) {
      this.#sockets.add(socket);
      socket.on('error', end).on('close', () => {
        this.#sockets.delete(socket);
        end();
      });
    }
    caller.pipe(gateway);
    let left = this.#bytes.shift() ?? Number.POSITIVE_INFINITY;
    gateway.on('data', (bytes: Buffer) => {
      const part = bytes.subarray(0, Math.min(left, bytes.length));
      left -= part.length;
      if (left > 0) return void caller.write(part);
      this.cuts++;
      caller.end(part, end);
    });
  }
}

import { connect, type Socket } from 'node:net';

/** The header lines that ask for a WebSocket. */
export const HANDSHAKE = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
];

/** A reply as it came over the wire. */
export interface RawReply {
  status: number;
  /** By lower-case name; of several the last. */
  headers: Record<string, string>;
  body: string;
}

/** A connection on which a test writes what it likes. All that comes back is kept. */
export class RawConnection {
  readonly socket: Socket;
  received = '';
  closed = false;
  readonly #looks = new Set<() => void>();

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      this.received += text;
      this.#look();
    });
    socket.on('error', () => {}); // a reset is an end like another here
    socket.on('close', () => {
      this.closed = true;
      this.#look();
    });
  }

  static open(port: number, host = '127.0.0.1'): Promise<RawConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host, noDelay: true });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new RawConnection(socket));
      });
    });
  }

  send(text: string | Uint8Array): this {
    if (!this.closed) this.socket.write(typeof text === 'string' ? Buffer.from(text, 'latin1') : text);
    return this;
  }

  /** Resolves when what was received is enough, with whether it was before the connection ended. */
  until(enough: (received: string) => boolean): Promise<boolean> {
    return new Promise((resolve) => {
      const look = () => {
        if (!enough(this.received) && !this.closed) return;
        this.#looks.delete(look);
        resolve(enough(this.received));
      };
      this.#looks.add(look);
      look();
    });
  }

  untilClosed(): Promise<boolean> {
    return this.until(() => this.closed);
  }

  /** The first reply; null when the connection ends without one. */
  async reply(): Promise<RawReply | null> {
    await this.until((text) => parseReply(text, this.closed) !== null);
    return parseReply(this.received, true);
  }

  destroy(): void {
    this.socket.destroy();
  }

  #look(): void {
    for (const look of [...this.#looks]) look();
  }
}

/** Sends text on a connection of its own; returns the first reply, null when there was none. */
export async function exchange(port: number, text: string | Uint8Array): Promise<RawReply | null> {
  const connection = await RawConnection.open(port);
  try {
    return await connection.send(text).reply();
  } finally {
    connection.destroy();
  }
}

/** A request: the request line and its header lines, then the body. */
export function requestText(line: string, headers: string[], body = ''): string {
  return `${[line, ...headers].join('\r\n')}\r\n\r\n${body}`;
}

function parseReply(text: string, ended: boolean): RawReply | null {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const [first = '', ...lines] = text.slice(0, end).split('\r\n');
  const status = Number(first.split(' ')[1]);
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  if (status === 100) return parseReply(text.slice(end + 4), ended);
  const rest = text.slice(end + 4);
  const length = headers['content-length'];
  if (length !== undefined && rest.length < Number(length) && !ended) return null;
  if (length === undefined && status !== 204 && !rest.endsWith('0\r\n\r\n') && !ended) return null;
  return { status, headers, body: length === undefined ? rest : rest.slice(0, Number(length)) };
}

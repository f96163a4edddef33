import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';

/** Headers that belong to an upgrade alone. */
const OF_UPGRADE = new Set(['upgrade', 'http2-settings']);

/**
 * Answers a request that asked for an upgrade as if it had not (RFC 9110 §7.8): Node hands all of them over as soon as
 * someone takes WebSockets, those for HTTP/2 that curl and Java send with any request too. Its head goes back to where it
 * came from, and the connection is served like a new one.
 */
export function serveWithoutUpgrade(server: Server, request: IncomingMessage, socket: Duplex, rest: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const [name, value] = rawHeaders.slice(i, i + 2) as [string, string];
    if (OF_UPGRADE.has(name.toLowerCase())) continue;
    lines.push(`${name}: ${name.toLowerCase() === 'connection' ? withoutUpgrade(value) : value}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), rest]));
  server.emit('connection', socket);
}

function withoutUpgrade(connection: string): string {
  const options = connection.split(',').map((option) => option.trim());
  return options.filter((option) => !OF_UPGRADE.has(option.toLowerCase())).join(', ');
}

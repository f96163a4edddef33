import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';

/** A transfer that is cut must not look complete, which it does to HTTP/1.0 unless the connection is reset. */
export function breakOff(response: ServerResponse): void {
  const { socket } = response;
  if (socket instanceof Socket && !response.chunkedEncoding && socket.remoteAddress !== undefined) socket.resetAndDestroy();
  else response.destroy();
}

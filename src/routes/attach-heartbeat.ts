import type { Socket } from 'node:net';
import type { WebSocket } from '@fastify/websocket';

/** Beats without progress after which a viewer that reads nothing is given up: what was sent to it does not leave the machine. */
const STALLED_BEATS = 4;

/**
 * Asks a peer after every `ms` whether it is there, and drops one that sent nothing since the question before. One that
 * does not take what was sent before the question cannot answer it, and has four times as long.
 * @param deaf whether the peer is not read now, so that its answers cannot come
 * @returns what stops it
 */
export function beat(socket: WebSocket, raw: Socket, ms: number, deaf: () => boolean): () => void {
  let received = -1;
  let sent = -1;
  let stalled = 0;
  const timer = setInterval(() => {
    const unsent = raw.writableLength > 0;
    const taken = raw.bytesWritten - raw.writableLength;
    const silent = raw.bytesRead === received && !deaf();
    stalled = unsent && taken === sent ? stalled + 1 : 0;
    if (stalled >= STALLED_BEATS || (silent && !unsent)) return socket.terminate();
    received = unsent ? -1 : raw.bytesRead;
    sent = taken;
    if (!unsent) socket.ping();
  }, ms);
  return () => clearInterval(timer);
}

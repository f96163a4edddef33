import type { Server, Socket } from 'node:net';
import { descriptorOf, native } from './process/native.js';

/** What a connection holds that was not sent yet, in bytes, before its reader counts as behind. */
const UNSENT_BYTES = 128 * 1024;

/**
 * Lets connections take little ahead of the network. Else the system takes megabytes for each, asks for more in steps of a
 * megabyte, and nobody can tell a steady reader from one that has stopped.
 */
export function limitUnsent(server: Server): void {
  if (native === null) return;
  server.on('connection', (socket: Socket) => {
    const fd = descriptorOf(socket);
    if (fd >= 0) native?.limitUnsent(fd, UNSENT_BYTES);
  });
}

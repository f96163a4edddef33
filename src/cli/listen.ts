import { statSync, unlinkSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import type { buildApp } from '../app.js';
import type { Listen } from '../config.js';
import { SettingError } from './token.js';

/** The gateway's server, built but not listening. */
export type App = ReturnType<typeof buildApp>;

/** What the server asks of the program around it. */
export type Probes = Parameters<typeof buildApp>[2];

/** Bytes of a socket's path (sun_path of unix(7), less its end mark); a longer one would be cut short. */
const LONGEST_SOCKET_PATH = 107;

/** Connections that may wait to be accepted: the kernel clamps it to net.core.somaxconn. */
const BACKLOG = 4096;

/**
 * Listens; a stale socket file is removed, a live one is not.
 * @returns the base URL, as it was asked for
 * @throws {SettingError} when the address cannot be had
 */
export async function listen(app: App, at: Listen): Promise<string> {
  try {
    if (at.kind === 'unix') return await listenUnix(app, at.path);
    await app.listen({ host: at.host, port: at.port, backlog: BACKLOG });
    return `http://${at.host.includes(':') ? `[${at.host}]` : at.host}:${(app.server.address() as AddressInfo).port}`;
  } catch (error) {
    if (error instanceof SettingError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    const where = at.kind === 'unix' ? at.path : `${at.host}:${at.port}`;
    if (code === 'EADDRINUSE')
      throw new SettingError(`${where} is in use: end what listens there, or give another --listen.`, { cause: error });
    if (code === 'EACCES' && at.kind === 'unix') {
      throw new SettingError(`${where}: its directory does not exist, or this user may not write there.`, { cause: error });
    }
    if (code === 'EACCES') throw new SettingError(`${where} may not be listened on by this user: give another --listen.`, { cause: error });
    throw new SettingError(`Cannot listen on ${where}: ${message}.`, { cause: error });
  }
}

async function listenUnix(app: App, path: string): Promise<string> {
  if (Buffer.byteLength(path) > LONGEST_SOCKET_PATH) {
    throw new SettingError(`unix:${path} is too long: the path of a socket has at most ${LONGEST_SOCKET_PATH} bytes.`);
  }
  if (statSync(path, { throwIfNoEntry: false })?.isSocket() && !(await answers(path))) unlinkSync(path);
  await app.ready();
  const umask = process.umask(0o177); // nobody else may connect, not even before a chmod
  try {
    await app.listen({ path, backlog: BACKLOG });
  } finally {
    process.umask(umask);
  }
  return 'http://localhost';
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

import { RemoteExecProcess } from '../client/remote-exec-process.js';
import type { RetryOptions } from '../client/retry.js';
import type { WireOptions } from '../client/wire.js';
import { GatewayError } from '../protocol/error.js';
import type { ExecProcess } from '../protocol/exec-process.js';
import { socketFetch } from '../socket-fetch.js';
import type { ConnectionOptions } from './connection-options.js';
import { provideBase64 } from './provide-base64.js';
import { readCallToken, SettingError } from './token.js';

/**
 * Makes a client of the gateway at `url`.
 * @throws {SettingError} for an address or token that cannot be used
 */
export function remote<T>(create: (options: WireOptions) => T, url: string, token: string | undefined): T {
  const socket = url.startsWith('unix:') ? url.slice(5) : null;
  const where = socket === null ? { url } : { url: 'http://localhost', name: url, fetch: socketFetch(socket) };
  try {
    return create({ ...where, token });
  } catch (error) {
    throw error instanceof GatewayError ? new SettingError(error.message, { cause: error }) : error;
  }
}

/**
 * The processes of the gateway that the settings name.
 * @throws {SettingError} for an address or token that cannot be used
 */
export function remoteProcesses({ url, tokenFile }: ConnectionOptions, retry?: RetryOptions): ExecProcess {
  provideBase64();
  const token = readCallToken(tokenFile, '--token-file', process.env.EXEC_GATEWAY_TOKEN);
  return remote((options) => new RemoteExecProcess({ fetch: socketFetch(), ...options, retry }), url, token);
}

import { GatewayError } from '../protocol/error.js';

/** Input after the end. */
export const detached = () => new GatewayError('process_exited', 'Nothing is attached any more: the process has ended, or was left.');

/** A connection that ended without a reason. */
export const lost = (code: number) => new GatewayError('upstream_unreachable', `The WebSocket to the gateway was lost (${code}).`);

/** Another process under the same id. */
export const replaced = (process_id: string) =>
  new GatewayError('process_not_found', `The process ${JSON.stringify(process_id)} is another one by now.`, { process_id });

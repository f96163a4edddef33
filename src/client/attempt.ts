import { GatewayError } from '../protocol/error.js';
import { onAbort } from './on-abort.js';

/**
 * Makes one attempt at a call. A gateway that takes a connection and says nothing is as dead as one that refuses it.
 * @throws {GatewayError} `upstream_unreachable` when it was not answered within `patience_ms`
 */
export async function attempt<T>(call: (signal: AbortSignal) => Promise<T>, patience_ms: number, signal?: AbortSignal): Promise<T> {
  const controller = new AbortController();
  const forget = onAbort(signal, () => controller.abort(signal?.reason));
  const giveUp = () => controller.abort(new GatewayError('upstream_unreachable', `The gateway did not answer within ${patience_ms} ms.`));
  const timer = setTimeout(giveUp, patience_ms);
  try {
    return await call(controller.signal);
  } finally {
    clearTimeout(timer);
    forget();
  }
}

import { GatewayError } from '../../src/protocol/index.js';

/** What a call returns, or the code of the `GatewayError` that it throws. */
export function codeOfThrown<T>(call: () => T): T | string {
  try {
    return call();
  } catch (error) {
    if (error instanceof GatewayError) return error.code;
    throw error;
  }
}

import type { ErrorCode } from '../protocol/index.js';
import { GatewayError } from '../protocol/index.js';
import { SandboxRefusal } from '../protocol/sandbox.js';

/** What the codes of the protocol mean. */
export const RPC = {
  /** Out of order, twice, unknown, beyond a limit, or no message at all. */
  INVALID_REQUEST: -32600,
  METHOD_NOT_FOUND: -32601,
  /** Params that do not have the shape. */
  INVALID_PARAMS: -32602,
  /** The system could not do it. */
  INTERNAL: -32603,
  /** No such file. Clients count on it: a patch that adds a file begins with it. */
  NOT_FOUND: -32004,
  /** The session to resume has a connection. Clients try again. */
  SESSION_ATTACHED: -32010,
} as const;

/** An error as the other side gets it. */
export class RpcError extends Error {
  override readonly name = 'RpcError';

  /** @param data what helps a program, such as the kind of a failed start */
  constructor(
    readonly code: (typeof RPC)[keyof typeof RPC],
    message: string,
    readonly data?: { kind: string },
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** A message that is out of order, names what is unknown, or goes beyond a limit. */
export const invalidRequest = (message: string): RpcError => new RpcError(RPC.INVALID_REQUEST, message);

/** Params that do not have the shape. */
export const invalidParams = (message: string): RpcError => new RpcError(RPC.INVALID_PARAMS, message);

const CODES: Partial<Record<ErrorCode, RpcError['code']>> = {
  path_not_found: RPC.NOT_FOUND,
  invalid_path: RPC.INVALID_PARAMS,
  invalid_argument: RPC.INVALID_PARAMS,
  process_not_found: RPC.INVALID_REQUEST,
  payload_too_large: RPC.INVALID_REQUEST,
};

/** What was thrown as the other side gets it: a fault of ours tells nothing of itself. */
export function toRpcError(error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  if (error instanceof SandboxRefusal) return new RpcError(RPC.INTERNAL, error.message);
  if (error instanceof GatewayError && error.status !== 500) {
    return new RpcError(CODES[error.code] ?? RPC.INTERNAL, error.message, undefined, { cause: error });
  }
  return new RpcError(RPC.INTERNAL, 'The gateway failed.', undefined, { cause: error });
}

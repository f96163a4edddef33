import { GatewayError } from '../protocol/index.js';
import { checkJsonBounds } from '../protocol/json-bounds.js';
import { invalidRequest } from './rpc-error.js';

/** The key of a request, given back with its answer. */
export type RequestId = string | number;

/** What a client can say. Answers are to requests of the server, which makes none. */
export type Message =
  | { kind: 'request'; id: RequestId; method: string; params: unknown }
  | { kind: 'notification'; method: string; params: unknown }
  | { kind: 'answer' };

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads one message.
 * @throws {RpcError} for what is none, or would take too long to read
 */
export function readMessage(bytes: Buffer): Message {
  const value = parse(bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw unreadable('expected a JSON-RPC object');
  const { id, method, params } = value as { id?: unknown; method?: unknown; params?: unknown };
  if (method === undefined && id !== undefined && ('result' in value || 'error' in value)) return { kind: 'answer' };
  if (typeof method !== 'string') throw unreadable('method is no text');
  if (id === undefined) return { kind: 'notification', method, params };
  if (typeof id === 'string' || Number.isSafeInteger(id)) return { kind: 'request', id: id as RequestId, method, params };
  throw unreadable('id is neither a text nor an integer');
}

function parse(bytes: Buffer): unknown {
  try {
    checkJsonBounds(bytes);
    return JSON.parse(utf8.decode(bytes));
  } catch (error) {
    throw unreadable(error instanceof GatewayError ? error.message : (error as Error).message.slice(0, 200));
  }
}

const unreadable = (why: string): Error => invalidRequest(`failed to parse a JSON-RPC message: ${why}`);

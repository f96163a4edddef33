import type { Call } from './context.js';
import { FILE_METHODS } from './file-methods.js';
import { requestHttp } from './http-request.js';
import { Params } from './params.js';
import { PROCESS_METHODS } from './process-methods.js';
import { invalidParams } from './rpc-error.js';

/** One method: reads its params, which comes before every other check, and gives the call. */
export interface Method {
  /** What the methods of its kind are called in messages. */
  kind: string;
  /** @throws {RpcError} for params that do not have the shape */
  read(params: unknown): Call;
}

/** Every method but `initialize`. */
export const METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['environment/info', noParams('environment info', ({ machine }) => machine.info())],
  ['environment/status', noParams('environment status', async () => ({ status: 'ready' }))],
  ...kind('exec', PROCESS_METHODS),
  ...kind('filesystem', FILE_METHODS),
  ...kind('http', { 'http/request': requestHttp }),
]);

function kind(name: string, methods: Record<string, (params: Params) => Call>): [string, Method][] {
  return Object.entries(methods).map(([method, read]) => [method, { kind: name, read: (params) => read(new Params(params)) }]);
}

function noParams(name: string, call: Call): Method {
  return {
    kind: name,
    read: (params) => {
      const none = params === undefined || params === null || (typeof params === 'object' && Object.keys(params).length === 0);
      if (!none) throw invalidParams('invalid type: map, expected unit');
      return call;
    },
  };
}

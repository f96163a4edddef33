import type { Params } from './params.js';
import { RPC, RpcError } from './rpc-error.js';

/**
 * Refuses a sandbox: nothing here can enforce one, and to run without it would be worse than not to run. One that asks for
 * nothing passes.
 * @throws {RpcError}
 */
export function refuseSandbox(params: Params): void {
  const permissions = params.optionalParams('sandbox')?.params('permissions');
  if (permissions === undefined || asksForNothing(permissions)) return;
  const detail = 'This executor cannot enforce a sandbox, and does nothing without the one that is asked for';
  throw new RpcError(RPC.INTERNAL, `${detail}: use danger-full-access, and confine the gateway itself (container, user, --fs-root).`);
}

function asksForNothing(permissions: Params): boolean {
  const type = permissions.text('type');
  return type === 'disabled' || (type === 'external' && permissions.raw('network') === 'enabled');
}

/** Refuses a start that is to be kept to a policy of the network. */
export function refuseNetworkPolicy(params: Params): void {
  if (!params.optionalFlag('enforceManagedNetwork', false) && !params.has('managedNetwork') && !params.has('networkProxy')) return;
  throw new RpcError(RPC.INTERNAL, 'This executor cannot enforce a policy of the network, and starts nothing without the one asked for.');
}

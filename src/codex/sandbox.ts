import type { SandboxPolicy, SandboxRule } from '../protocol/sandbox.js';
import { Params } from './params.js';
import { RPC, RpcError } from './rpc-error.js';
import { entryRules, type Places } from './sandbox-entry.js';
import { knowAll, nativePath, refusal } from './sandbox-members.js';

/** Members that are read, or say nothing about this system: how Windows would do it, or by which means. */
const KNOWN = [
  'permissions',
  'cwd',
  'policyContext',
  'workspaceRoots',
  'userHomeDir',
  'temporaryDirectories',
  'windowsSandboxLevel',
  'windowsSandboxProxySettingsMode',
  'useLegacyLandlock',
];

/**
 * What the sandbox of a call allows, or null when it asks for nothing.
 * @throws {RpcError} for one that holds what is not known here: it is never passed over
 */
export function sandboxPolicy(params: Params): SandboxPolicy | null {
  const sandbox = params.optionalParams('sandbox');
  if (sandbox === undefined) return null;
  const permissions = sandbox.params('permissions');
  if (asksForNothing(permissions)) return null;
  const type = permissions.text('type');
  if (type !== 'managed') throw refusal(`permissions of type ${JSON.stringify(type)} are not enforced here`);
  knowAll(sandbox, KNOWN, 'sandbox');
  knowAll(permissions, ['type', 'file_system', 'network'], 'permissions');
  const network = permissions.raw('network');
  if (network !== 'restricted' && network !== 'enabled') throw refusal(`network ${JSON.stringify(network)} is not known`);
  const rules = fileRules(permissions.params('file_system'), places(sandbox));
  const policy = { rules, network: network === 'enabled' };
  return policy.network && allowsAllFiles(policy) ? null : policy;
}

/** Whether a policy leaves files as they are. */
export const allowsAllFiles = ({ rules }: SandboxPolicy): boolean =>
  rules.every(({ path, access }) => path === '/' && access === 'write') && rules.length > 0;

function asksForNothing(permissions: Params): boolean {
  const type = permissions.text('type');
  return type === 'disabled' || (type === 'external' && permissions.raw('network') === 'enabled');
}

function fileRules(files: Params, given: Places): SandboxRule[] {
  const type = files.text('type');
  if (type === 'unrestricted') return [{ path: '/', access: 'write', skip_missing: false }];
  if (type !== 'restricted') throw refusal(`a file_system of type ${JSON.stringify(type)} is not known`);
  knowAll(files, ['type', 'entries', 'glob_scan_max_depth'], 'file_system');
  return files.list('entries', (value) => entryRules(new Params(value), given)).flat();
}

/** Where the places are that entries name. */
function places(sandbox: Params): Places {
  const context = sandbox.optionalParams('policyContext');
  const roots = rootsOf(sandbox);
  const others = context && rootsOf(context);
  if (others && JSON.stringify(others) !== JSON.stringify(roots)) throw refusal('workspaceRoots and those of policyContext differ');
  const temporary = sandbox.has('temporaryDirectories') ? sandbox.list('temporaryDirectories', nativePath) : [];
  const own = process.env.TMPDIR;
  return { roots, temporary: temporary.length > 0 ? temporary : own?.startsWith('/') ? [own] : [] };
}

function rootsOf(params: Params): string[] {
  if (params.has('workspaceRoots')) return params.list('workspaceRoots', nativePath);
  return params.has('cwd') ? [nativePath(params.raw('cwd'))] : [];
}

/** Refuses a start that is to be kept to a policy of the network. */
export function refuseNetworkPolicy(params: Params): void {
  if (!params.optionalFlag('enforceManagedNetwork', false) && !params.has('managedNetwork') && !params.has('networkProxy')) return;
  throw new RpcError(RPC.INTERNAL, 'This executor cannot enforce a policy of the network, and starts nothing without the one asked for.');
}

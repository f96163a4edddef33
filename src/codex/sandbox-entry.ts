import { join } from 'node:path/posix';
import type { SandboxRule } from '../protocol/sandbox.js';
import type { Params } from './params.js';
import { knowAll, nativePath, refusal } from './sandbox-members.js';

/** What programs need to run at all, where a policy allows no more than that. */
const MINIMAL = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/usr', '/etc', '/nix/store', '/run/current-system/sw'];

/** Where the places are that entries name. */
export interface Places {
  /** The directories that are worked in. */
  roots: string[];
  /** Those for temporary files, but /tmp. */
  temporary: string[];
}

type Access = SandboxRule['access'];

/**
 * The rules that one entry of a policy stands for.
 * @throws {RpcError} for one that is not known, or cannot be enforced
 */
export function entryRules(entry: Params, places: Places): SandboxRule[] {
  knowAll(entry, ['path', 'access', 'missing_path_behavior'], 'an entry');
  const access = accessOf(entry);
  const missing = entry.raw('missing_path_behavior');
  if (missing !== undefined && missing !== 'skip') throw refusal(`missing_path_behavior ${JSON.stringify(missing)} is not known`);
  return pathsOf(entry.params('path'), places, access).map((path) => ({ path, access, skip_missing: missing === 'skip' }));
}

function accessOf(entry: Params): Access {
  const access = entry.text('access');
  if (access === 'read' || access === 'write' || access === 'deny') return access;
  if (access === 'none') return 'deny';
  throw refusal(`access ${JSON.stringify(access)} is not known`);
}

function pathsOf(path: Params, places: Places, access: Access): string[] {
  const type = path.text('type');
  if (type === 'path') {
    knowAll(path, ['type', 'path'], 'a path');
    return [nativePath(path.raw('path'))];
  }
  if (type === 'special') {
    knowAll(path, ['type', 'value'], 'a path');
    return specialPaths(path.params('value'), places, access);
  }
  if (type === 'glob_pattern')
    throw refusal(
      `the pattern ${JSON.stringify(path.raw('pattern'))} cannot be enforced for files that are yet to come: name paths instead`,
    );
  throw refusal(`a path of type ${JSON.stringify(type)} is not known`);
}

function specialPaths(value: Params, { roots, temporary }: Places, access: Access): string[] {
  const kind = value.text('kind');
  knowAll(value, ['kind', 'subpath'], 'a special path');
  const subpath = value.optionalText('subpath');
  if (kind === 'project_roots' || kind === 'current_working_directory') return roots.map((root) => below(root, subpath));
  if (subpath !== undefined) throw refusal(`the special path ${JSON.stringify(kind)} has a subpath, which is not known`);
  if (kind === 'root') return ['/'];
  if (kind === 'slash_tmp') return ['/tmp'];
  if (kind === 'tmpdir') return temporary;
  if (kind === 'minimal' && access === 'read') return MINIMAL;
  throw refusal(`${access} at the special path ${JSON.stringify(kind)} is not known`);
}

function below(root: string, subpath: string | undefined): string {
  if (subpath === undefined) return root;
  if (!subpath.startsWith('/') && !subpath.split('/').includes('..') && !subpath.includes('\0')) return join(root, subpath);
  throw refusal(`the subpath ${JSON.stringify(subpath)} leads out of its directory`);
}

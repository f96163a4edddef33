import { filePath } from './file-uri.js';
import type { Params } from './params.js';
import { RPC, RpcError } from './rpc-error.js';

/** A path of this machine, given as such or as a `file:` URI. */
export function nativePath(value: unknown): string {
  const text = typeof value === 'string' ? value : '';
  if (text.startsWith('/') && !text.includes('\0') && text.isWellFormed()) return text;
  const path = /^file:/i.test(text) ? filePath(text).path : undefined;
  if (path !== undefined) return path;
  throw refusal(`${JSON.stringify(value)} is no absolute path in UTF-8`);
}

/** Refuses members that are not known: what they would forbid is not known either. */
export function knowAll(params: Params, known: readonly string[], where: string): void {
  const other = params.names.find((name) => !known.includes(name) && params.has(name));
  if (other !== undefined) throw refusal(`${where} has a member ${JSON.stringify(other)} that is not known`);
}

/** A sandbox that is not enforced: nothing is done without the one that is asked for. */
export const refusal = (why: string): RpcError => new RpcError(RPC.INTERNAL, `The sandbox is refused, and nothing was done: ${why}`);

/** What a sandbox that is not full access is refused with where nothing can enforce it. */
export const cannotEnforce = (): RpcError =>
  refusal('this gateway is in front of another one, and cannot enforce it there. Use danger-full-access, or connect to that gateway.');

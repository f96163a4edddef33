import { lstatSync, mkdirSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { type SandboxPolicy, SandboxRefusal } from '../protocol/sandbox.js';

/**
 * The directory in which gateways of this user keep what belongs to sandboxes, and nothing in a sandbox may see: who may write to
 * the directory for temporary files could else take the place of a socket in it.
 * @throws {SandboxRefusal} when somebody else has put something at its path
 */
export function sandboxDirectory(): string {
  const { uid } = userInfo();
  const path = join(tmpdir(), `exec-gateway-sandboxes-${uid}`);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EEXIST') throw new SandboxRefusal(`This machine cannot enforce a sandbox: ${path} cannot be made (${code}).`);
  }
  const stats = lstatSync(path);
  if (stats.isDirectory() && stats.uid === uid && (stats.mode & 0o077) === 0) return path;
  throw new SandboxRefusal(`This machine cannot enforce a sandbox: ${path} is no directory of this user alone (mode 0700).`);
}

/**
 * The policy, with that directory hidden, which is there before the first sandbox is.
 * @param hide further directories that nothing in a sandbox may see
 */
export function withoutSockets({ rules, network }: SandboxPolicy, hide: readonly string[]): SandboxPolicy {
  const hidden = [sandboxDirectory(), ...hide].map((path) => ({ path, access: 'deny' as const, skip_missing: false }));
  return { rules: [...rules, ...hidden], network };
}

import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { beforeEach, expect, test } from 'vitest';
import type { CodexClient, CodexMessage } from '../support/codex-client.js';
import type { Codex } from './use-codex.js';

const FLAGS = ['--unshare-user', '--unshare-pid', '--unshare-net', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'];

/** Whether bubblewrap works on this machine, found out without the product. */
export const HAS_BUBBLEWRAP = spawnSync('bwrap', [...FLAGS, 'true']).status === 0;

/** One entry of a policy. */
export type Entry = { path: object; access: string; missing_path_behavior?: string };

export const special = (kind: string, subpath?: string): object => ({
  type: 'special',
  value: { kind, ...(subpath === undefined ? {} : { subpath }) },
});

export const entry = (path: object | string, access: string, missing?: string): Entry => ({
  path: typeof path === 'string' ? { type: 'path', path } : path,
  access,
  ...(missing === undefined ? {} : { missing_path_behavior: missing }),
});

const READ_ALL = entry(special('root'), 'read');

/** Sandboxes in the words of the client, over a directory `work` that is made anew for each test. */
export interface Sandboxes {
  /** A path in `work`. */
  work(name?: string): string;
  uri(name?: string): string;
  policy(entries: Entry[], network?: string): object;
  readOnly(): object;
  workspaceWrite(more?: Entry[], network?: string): object;
  /** Starts a program in `work` by a shell, and resolves with its output, and the code it exited with, once it is closed. */
  run(client: CodexClient, id: string, script: string, sandbox: object, rest?: object): Promise<{ code: number; output: string }>;
  start(client: CodexClient, id: string, argv: string[], sandbox: object, rest?: object): Promise<CodexMessage>;
}

export function useSandboxes(codex: Codex): Sandboxes {
  const top = codex.path('work');
  beforeEach(() => {
    rmSync(top, { recursive: true, force: true });
    mkdirSync(top);
  });
  const work = (name = '') => (name === '' ? top : `${top}/${name}`);
  const uri = (name = '') => `file://${work(name)}`;
  const policy = (entries: Entry[], network = 'restricted') => ({
    permissions: { type: 'managed', file_system: { type: 'restricted', entries }, network },
    cwd: uri(),
    workspaceRoots: [uri()],
    windowsSandboxLevel: 'disabled',
    useLegacyLandlock: false,
  });
  const start = (client: CodexClient, processId: string, argv: string[], sandbox: object, rest: object = {}) =>
    client.call('process/start', { processId, argv, cwd: uri(), env: { PATH: '/usr/bin:/bin' }, tty: false, sandbox, ...rest });
  return {
    work,
    uri,
    policy,
    start,
    readOnly: () => policy([READ_ALL]),
    workspaceWrite: (more = [], network) => policy([READ_ALL, entry(special('project_roots'), 'write'), ...more], network),
    run: async (client, id, script, sandbox, rest) => {
      const { result, error } = await start(client, id, ['/bin/sh', '-c', script], sandbox, rest);
      if (error) throw new Error(`The start was refused: ${error.code} ${error.message}`);
      expect(result.sandboxType).toBe('linuxSeccomp');
      const exited = (await client.whole(id)).find(({ method }) => method === 'process/exited');
      return { code: exited?.params.exitCode, output: client.output(id).toString() };
    },
  };
}

/** A test of what is enforced; on a machine that cannot, of the refusal. */
export function enforced(codex: Codex, name: string, run: (client: CodexClient) => Promise<void>): void {
  test(name, async () => {
    await using client = await codex.ready();
    if (HAS_BUBBLEWRAP) return await run(client);
    const sandbox = { permissions: { type: 'managed', file_system: { type: 'restricted', entries: [READ_ALL] }, network: 'restricted' } };
    await expectRefusal(client, sandbox, 'cannot enforce a sandbox');
  });
}

/** Nothing is started and no file is touched; the message says why. */
export async function expectRefusal(client: CodexClient, sandbox: object, why: string): Promise<void> {
  const start = { processId: 'refused', argv: ['true'], cwd: 'file:///tmp', env: { PATH: '/usr/bin:/bin' }, tty: false, sandbox };
  for (const { error } of [
    await client.call('process/start', start),
    await client.call('fs/readFile', { path: 'file:///etc/passwd', sandbox }),
  ]) {
    expect(error?.code).toBe(-32603);
    expect(error?.message).toContain(why);
  }
  expect(await client.code('process/read', { processId: 'refused' })).toBe(-32600);
}

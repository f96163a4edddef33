import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CodexClient } from '../support/codex-client.js';
import { GatewayServer } from '../support/gateway-server.js';
import { useCodex } from './use-codex.js';
import { type Entry, enforced, entry, expectRefusal, special, useSandboxes } from './use-sandbox.js';

const codex = useCodex();
const { work, policy, workspaceWrite } = useSandboxes(codex);

describe('what is not known, or cannot be enforced, is refused', () => {
  const glob = { type: 'glob_pattern', pattern: '/tmp/**/*.env' };
  const entries: [string, Entry, string][] = [
    ['a pattern', entry(glob, 'deny'), 'pattern'],
    ['another type of path', entry({ type: 'inode', inode: 5 }, 'read'), '"inode"'],
    ['another special path', entry(special('downloads'), 'write'), '"downloads"'],
    ['a special path with more to it', entry({ type: 'special', value: { kind: 'root', except: '/etc' } }, 'read'), '"except"'],
    ['a subpath that leads out', entry(special('project_roots', '../x'), 'write'), 'subpath'],
    ['another access', entry('/etc', 'append'), '"append"'],
    ['another behavior', entry('/none', 'read', 'create'), '"create"'],
    ['a member more', { ...entry('/etc', 'read'), recursive: false } as Entry, '"recursive"'],
    ['a relative path', entry('etc', 'read'), '"etc"'],
    ['a path that is not UTF-8', entry('file:///%ff', 'read'), '%ff'],
  ];
  test.each(entries)('%s', async (_what, odd, why) => {
    await using client = await codex.ready();
    await expectRefusal(client, workspaceWrite([odd]), why);
  });

  const permissions = {
    type: 'managed',
    file_system: { type: 'restricted', entries: [entry(special('root'), 'read')] },
    network: 'restricted',
  };
  test.each([
    ['another network', { permissions: { ...permissions, network: 'proxied' } }, '"proxied"'],
    ['no network said', { permissions: { ...permissions, network: undefined } }, 'network'],
    ['another type', { permissions: { type: 'vm' } }, '"vm"'],
    ['an outer sandbox without a network', { permissions: { type: 'external', network: 'restricted' } }, '"external"'],
    ['another type of file system', { permissions: { ...permissions, file_system: { type: 'overlay' } } }, '"overlay"'],
    ['a member more', { permissions: { ...permissions, syscalls: [] } }, '"syscalls"'],
    ['a member more outside', { permissions, seccompProfile: 'x' }, '"seccompProfile"'],
    ['two sets of roots', { permissions, workspaceRoots: ['file:///a'], policyContext: { workspaceRoots: ['file:///b'] } }, 'differ'],
  ])('%s', async (_what, sandbox, why) => {
    await using client = await codex.ready();
    await expectRefusal(client, sandbox, why);
  });

  enforced(codex, 'a link that the sandbox lets be replaced, a place that it lets be made, devices, too much', async (client) => {
    mkdirSync(work('real'));
    symlinkSync('real', work('link'));
    await expectRefusal(client, workspaceWrite([entry(work('link'), 'read')]), work('link'));
    await expectRefusal(client, workspaceWrite([entry(work('link/sub'), 'deny', 'skip')]), work('link'));
    await expectRefusal(client, workspaceWrite([entry(work('none'), 'deny')]), work('none'));
    await expectRefusal(client, workspaceWrite([entry('/dev/kvm', 'write')]), '/dev');
    await expectRefusal(client, workspaceWrite([entry('/proc', 'write')]), '/proc');
    await expectRefusal(client, policy(Array.from({ length: 300 }, () => entry('/etc', 'read'))), '256');
  });
});

describe('without bubblewrap', () => {
  const sandbox = () => workspaceWrite();
  const cases: [string, (bin: string) => void, string][] = [
    ['that is installed', () => {}, 'bubblewrap'],
    [
      'that works',
      (bin) => writeFileSync(`${bin}/bwrap`, '#!/bin/sh\necho "bwrap: no namespace for you" >&2; exit 1\n', { mode: 0o755 }),
      'no namespace for you',
    ],
    [
      'that holds',
      (bin) => writeFileSync(`${bin}/bwrap`, '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@"\n', { mode: 0o755 }),
      'trial',
    ],
  ];
  test.each(cases)('%s, every sandbox is refused, and what has none is done', async (name, prepare, why) => {
    const bin = codex.path(`bin-${name.replaceAll(' ', '-')}`);
    mkdirSync(bin);
    for (const program of ['env', 'sh']) symlinkSync(`/usr/bin/${program}`, `${bin}/${program}`);
    prepare(bin);
    const gateway = await GatewayServer.start({ env: { PATH: bin } });
    try {
      await using client = await CodexClient.ready(gateway.url, { authorization: `Bearer ${gateway.token}` });
      await expectRefusal(client, sandbox(), why);
      await client.start('p', ['true']);
      await client.whole('p');
    } finally {
      await gateway.stop();
    }
  });
});

describe('a gateway in front of another one', () => {
  let front: GatewayServer;
  beforeAll(async () => {
    const { server } = codex.gateway;
    writeFileSync(codex.path('token'), server.token ?? '', { mode: 0o600 });
    front = await GatewayServer.start({ flags: ['--upstream', server.url, '--upstream-token-file', codex.path('token')] });
  });
  afterAll(() => front.stop());

  test('refuses every sandbox that asks for something', async () => {
    await using client = await CodexClient.ready(front.url, { authorization: `Bearer ${front.token}` });
    await expectRefusal(client, workspaceWrite(), 'in front of another');
    const path = `file://${work('made')}`;
    expect(await client.code('fs/writeFile', { path, dataBase64: '', sandbox: workspaceWrite() })).toBe(-32603);
    expect(existsSync(work('made'))).toBe(false);
    await client.start('p', ['true'], { sandbox: { permissions: { type: 'disabled' } } });
    await client.whole('p');
  });
});

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { CodexClient } from '../support/codex-client.js';
import { GatewayServer } from '../support/gateway-server.js';
import { commandLine, isRunning, until } from '../support/proc.js';
import { useCodex } from './use-codex.js';
import { enforced, entry, special, useSandboxes } from './use-sandbox.js';

const codex = useCodex();
const { work, uri, run, policy, readOnly, workspaceWrite } = useSandboxes(codex);
const base64 = (text: string) => Buffer.from(text).toString('base64');

const SOCKETS = join(tmpdir(), `exec-gateway-sandboxes-${userInfo().uid}`);

/** Directories of their sockets. */
const sockets = (parent: number) => readdirSync(SOCKETS).filter((name) => name.startsWith(`${parent}-`));

/** The gateways that do the calls of files in a sandbox, for this gateway. */
function jails(parent: number): number[] {
  const pids = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  const above = (pid: number) => Number(/^PPid:\s+(\d+)/m.exec(status(pid))?.[1]);
  return pids.filter((pid) => above(pid) === parent && isRunning(pid) && commandLine(pid).includes('/dev/exec-gateway'));
}

function status(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return '';
  }
}

describe('calls of files', () => {
  enforced(codex, 'read-only: reading works, and nothing that changes anything', async (client) => {
    mkdirSync(work('d'));
    writeFileSync(work('f'), 'content');
    const sandbox = readOnly();
    expect(await client.result('fs/readFile', { path: uri('f'), sandbox })).toEqual({ dataBase64: base64('content') });
    expect((await client.result('fs/readDirectory', { path: uri(), sandbox })).entries).toHaveLength(2);
    expect((await client.result('fs/canonicalize', { path: uri('d/../f'), sandbox })).path).toBe(uri('f'));
    expect(await client.code('fs/getMetadata', { path: uri('none'), sandbox })).toBe(-32004);
    const options = { maxDepth: 2, maxDirectories: 9, maxEntries: 9, followDirectorySymlinks: false };
    expect((await client.result('fs/walk', { path: uri(), options, sandbox })).entries).toHaveLength(2);
    for (const [method, params] of [
      ['fs/writeFile', { path: uri('f'), dataBase64: '' }],
      ['fs/writeFile', { path: uri('new'), dataBase64: '' }],
      ['fs/createDirectory', { path: uri('e') }],
      ['fs/remove', { path: uri('f') }],
      ['fs/copy', { sourcePath: uri('f'), destinationPath: uri('g'), recursive: false }],
    ] as const)
      expect(await client.code(method, { ...params, sandbox })).toBe(-32603);
    expect(readdirSync(work()).sort()).toEqual(['d', 'f']);
    expect(readFileSync(work('f'), 'utf8')).toBe('content');
  });

  enforced(codex, 'workspace-write: inside they do all, outside they change nothing, by whatever way', async (client) => {
    writeFileSync(codex.path('outside'), 'old');
    writeFileSync(work('secret'), 'secret');
    symlinkSync('..', work('up'));
    symlinkSync('../outside', work('link'));
    const sandbox = workspaceWrite([entry(work('secret'), 'deny')]);
    for (const name of ['../outside', 'up/outside', 'link', '%2e%2e/outside', 'secret'])
      expect(await client.code('fs/writeFile', { path: uri(name), dataBase64: base64('new'), sandbox })).toBe(-32603);
    expect(readFileSync(codex.path('outside'), 'utf8')).toBe('old');
    expect(await client.code('fs/readFile', { path: uri('secret'), sandbox })).toBe(-32603);
    expect(await client.code('fs/copy', { sourcePath: uri('secret'), destinationPath: uri('s'), recursive: false, sandbox })).toBe(-32603);
    expect(await client.result('fs/getMetadata', { path: uri('secret'), sandbox })).toMatchObject({ isFile: true });
    expect(await client.code('fs/writeFile', { path: uri('none/x'), dataBase64: '', sandbox })).toBe(-32004);
    await client.result('fs/createDirectory', { path: uri('a/b'), sandbox });
    await client.result('fs/writeFile', { path: uri('a/b/f'), dataBase64: base64('text'), sandbox });
    await client.result('fs/copy', { sourcePath: uri('a'), destinationPath: uri('c'), recursive: true, sandbox });
    await client.result('fs/remove', { path: uri('a'), sandbox });
    expect([existsSync(work('a')), readFileSync(work('c/b/f'), 'utf8'), readFileSync(work('secret'), 'utf8')]).toEqual([
      false,
      'text',
      'secret',
    ]);
  });

  enforced(codex, 'large files come and go whole', async (client) => {
    const bytes = Buffer.alloc(20_000_003, 'some text of a large file ');
    const sandbox = workspaceWrite();
    await client.result('fs/writeFile', { path: uri('large'), dataBase64: bytes.toString('base64'), sandbox });
    const { dataBase64 } = await client.result('fs/readFile', { path: uri('large'), sandbox });
    expect(Buffer.from(dataBase64, 'base64').equals(bytes)).toBe(true);
  });

  enforced(codex, 'open files and watches stay in the sandbox they were begun in', async (client) => {
    writeFileSync(work('f'), 'content');
    const sandbox = workspaceWrite([entry(work('f'), 'read')]);
    await client.result('fs/open', { handleId: 'r', path: uri('f'), sandbox });
    expect(await client.result('fs/readBlock', { handleId: 'r', offset: 3, len: 99 })).toEqual({ chunk: base64('tent'), eof: true });
    await client.result('fs/open', { handleId: 'w', path: uri('f'), mode: 'replace', sandbox });
    await client.result('fs/writeBlock', { handleId: 'w', offset: 0, chunk: base64('new') });
    expect(await client.code('fs/close', { handleId: 'w' })).toBe(-32603);
    expect(readFileSync(work('f'), 'utf8')).toBe('content');
    mkdirSync(work('dark'));
    const hidden = workspaceWrite([entry(work('dark'), 'deny')]);
    expect(await client.result('fs/watchMissing', { watchId: 1, missing: [uri('soon')], present: null, sandbox: hidden })).toEqual({
      watching: true,
    });
    expect(await client.result('fs/watchMissing', { watchId: 2, missing: [uri('dark/x')], present: null, sandbox: hidden })).toEqual({
      watching: true,
    });
    writeFileSync(work('dark/x'), '');
    writeFileSync(work('soon'), '');
    const told = await client.find('a change', ({ method }) => method === 'fs/missingChanged');
    expect(told.params).toEqual({ watchId: 1 });
  });

  enforced(codex, 'what comes to be protected, or another directory in the place of one, is seen at once', async (client) => {
    const sandbox = workspaceWrite([entry(special('project_roots', '.git'), 'read', 'skip')]);
    const write = (name: string) => client.code('fs/writeFile', { path: uri(name), dataBase64: '', sandbox });
    expect(await write('a')).toBe(0);
    mkdirSync(work('.git'));
    expect([await write('.git/config'), await write('b')]).toEqual([-32603, 0]);
    rmSync(work(), { recursive: true });
    mkdirSync(work());
    expect(await write('c')).toBe(0);
    expect(existsSync(work('c'))).toBe(true);
    expect((await run(client, 'p', 'ls', sandbox)).output).toBe('c\n');
  });
});

describe('what does them', () => {
  enforced(codex, 'is begun again when it dies, and ends with the connection', async () => {
    await using client = await codex.ready();
    const { pid } = codex.gateway.server;
    writeFileSync(work('f'), 'content');
    const read = (sandbox: object) => client.code('fs/readFile', { path: uri('f'), sandbox });
    expect(await read(readOnly())).toBe(0);
    const [first] = jails(pid);
    expect(jails(pid)).toHaveLength(1);
    process.kill(first as number, 'SIGKILL');
    await until('it is gone', () => jails(pid).length === 0);
    await until('another one is begun', async () => (await read(readOnly())) === 0);
    // More sandboxes than there are at once: those that nobody uses make room.
    for (const name of ['1', '2', '3', '4', '5']) {
      mkdirSync(work(name));
      expect(await read(workspaceWrite([entry(work(name), 'read')]))).toBe(0);
    }
    await until('four are left', () => jails(pid).length === 4);
    client.cut();
    await until('none is left', () => jails(pid).length === 0);
    expect(sockets(pid)).toEqual([]);
  });

  enforced(codex, 'cannot be reached from a sandbox, even where all may be written', async (client) => {
    writeFileSync(work('f'), '');
    const all = policy([entry(special('root'), 'write')]);
    const temporary = workspaceWrite([entry(special('slash_tmp'), 'write'), entry(tmpdir(), 'write')]);
    expect(await client.code('fs/readFile', { path: uri('f'), sandbox: readOnly() })).toBe(0);
    for (const [id, sandbox] of [
      ['all', all],
      ['temporary', temporary],
      ['read', readOnly()],
    ] as const) {
      const { output } = await run(
        client,
        id,
        `ls ${SOCKETS}; rmdir ${SOCKETS}; mv ${SOCKETS} ${work('moved')}; chmod 777 ${SOCKETS}`,
        sandbox,
      );
      expect(output.trim().split('\n')).toHaveLength(4);
      expect(output).toMatch(/^ls: .*Permission denied/);
    }
    expect(await client.code('fs/readDirectory', { path: `file://${SOCKETS}`, sandbox: readOnly() })).toBe(-32603);
    expect(sockets(codex.gateway.server.pid)).toHaveLength(1);
  });

  enforced(codex, 'keeps to --fs-root too, and programs to --confine-cwd', async () => {
    mkdirSync(work('root/in'), { recursive: true });
    writeFileSync(work('outside'), 'outside');
    const gateway = await GatewayServer.start({ flags: ['--fs-root', work('root'), '--confine-cwd'] });
    try {
      await using client = await CodexClient.ready(gateway.url, { authorization: `Bearer ${gateway.token}` });
      const sandbox = workspaceWrite([entry(work('root/in'), 'read')]);
      const write = (name: string) => client.code('fs/writeFile', { path: uri(name), dataBase64: '', sandbox });
      expect([await write('root/f'), await write('root/in/f'), await write('outside')]).toEqual([0, -32603, -32603]);
      expect(await client.code('fs/readFile', { path: uri('outside'), sandbox })).toBe(-32603);
      await expect(run(client, 'p', 'true', sandbox)).rejects.toThrow('--confine-cwd');
      const { output } = await run(client, 'q', 'pwd; echo x > f; echo x > in/f', sandbox, { cwd: uri('root') });
      expect(output).toContain('Read-only file system');
    } finally {
      await gateway.stop();
    }
  });

  enforced(codex, 'ends with the gateway, and leaves nothing', async () => {
    const gateway = await GatewayServer.start();
    await using client = await CodexClient.ready(gateway.url, { authorization: `Bearer ${gateway.token}` });
    writeFileSync(work('f'), '');
    expect(await client.code('fs/readFile', { path: uri('f'), sandbox: readOnly() })).toBe(0);
    const [pid] = jails(gateway.pid);
    expect(sockets(gateway.pid)).toHaveLength(1);
    await gateway.stop();
    await until('it is gone', () => !isRunning(pid as number));
    expect(sockets(gateway.pid)).toEqual([]);
  });
});

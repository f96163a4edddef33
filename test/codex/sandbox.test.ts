import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect } from 'vitest';
import { isRunning, markedProcesses, until } from '../support/proc.js';
import { useCodex } from './use-codex.js';
import { enforced, entry, special, useSandboxes } from './use-sandbox.js';

const codex = useCodex();
const { work, start, run, policy, readOnly, workspaceWrite } = useSandboxes(codex);

describe('files, for programs', () => {
  enforced(codex, 'read-only: what is there is read, nothing is written', async (client) => {
    writeFileSync(work('there'), 'there');
    const { code, output } = await run(client, 'p', 'cat there; echo x > new; echo x > there; echo x > /var/tmp/x', readOnly());
    expect(output.match(/^there|Read-only file system/g)).toHaveLength(4);
    expect(code).not.toBe(0);
    expect(existsSync(work('new'))).toBe(false);
    expect(readFileSync(work('there'), 'utf8')).toBe('there');
  });

  enforced(codex, 'workspace-write: the directory is written, nothing around it, by whatever way', async (client) => {
    symlinkSync('..', work('up'));
    writeFileSync(codex.path('outside'), 'old');
    const ways = ['../outside', 'up/outside', codex.path('outside'), '/proc/self/root/etc/x', 'made/../../outside', 'link'];
    const script = `mkdir made; ln -s ../outside link; echo in > made/f; for way in ${ways.join(' ')}; do echo x > $way; done; mv ../outside o`;
    const { output } = await run(client, 'p', script, workspaceWrite());
    expect(output.match(/Read-only file system/g)).toHaveLength(ways.length + 1);
    expect(readFileSync(work('made/f'), 'utf8')).toBe('in\n');
    expect(readFileSync(codex.path('outside'), 'utf8')).toBe('old');
  });

  enforced(codex, 'what is kept from writing inside cannot be written, replaced, or moved away with what is above it', async (client) => {
    mkdirSync(work('sub/.git'), { recursive: true });
    writeFileSync(work('sub/.git/config'), 'old');
    const kept = workspaceWrite([
      entry(special('project_roots', 'sub/.git'), 'read', 'skip'),
      entry(special('project_roots', '.codex'), 'read', 'skip'),
    ]);
    const script = 'echo x > sub/.git/config; rm -rf sub/.git; mv sub/.git g; mv sub other; echo y > sub/f; cat sub/.git/config sub/f';
    const { output } = await run(client, 'p', script, kept);
    expect(output).toMatch(/oldy\n$/);
    expect(readFileSync(work('sub/.git/config'), 'utf8')).toBe('old');
  });

  enforced(codex, 'what is denied cannot be read, but for what is allowed in it', async (client) => {
    mkdirSync(work('closed/open'), { recursive: true });
    for (const name of ['secret', 'closed/secret', 'closed/open/f']) writeFileSync(work(name), `content of ${name}\n`);
    const rules = [entry(work('secret'), 'deny'), entry(work('closed'), 'none'), entry(work('closed/open'), 'write')];
    const script = 'cat secret closed/secret closed/open/f; ls closed; chmod 777 closed secret; rm secret; echo new > closed/open/g';
    const { output } = await run(client, 'p', script, workspaceWrite(rules));
    expect(output.match(/content of .*/g)).toEqual(['content of closed/open/f']);
    expect(readFileSync(work('secret'), 'utf8')).toBe('content of secret\n');
    expect(readFileSync(work('closed/open/g'), 'utf8')).toBe('new\n');
  });

  enforced(codex, 'where no rule is, nothing is seen', async (client) => {
    const places = [entry(special('minimal'), 'read'), entry(special('project_roots'), 'read')];
    const { output } = await run(client, 'p', `pwd; ls /; ls -d ${codex.path()}/* /etc/passwd; echo x > /x; echo x > x`, policy(places));
    expect(output).toContain(`${work()}\n/etc/passwd`.replace(/^.*\n/, ''));
    expect(output).not.toMatch(/^(root|home|var)$/m);
    expect(output.match(/Read-only file system/g)).toHaveLength(2);
  });

  enforced(codex, 'the knobs of the kernel are for nobody, even where all may be written', async (client) => {
    const knobs = ['/proc/sys/kernel/core_pattern', '/proc/sys/kernel/hostname', '/sys/kernel', '/proc/self/oom_score_adj'];
    const all = policy([entry(special('root'), 'write')]);
    for (const [id, sandbox] of [
      ['all', all],
      ['work', workspaceWrite()],
    ] as const) {
      const { output } = await run(
        client,
        id,
        `for f in ${knobs.join(' ')}; do test -w $f && echo $f; done; grep CapEff /proc/self/status`,
        sandbox,
      );
      expect(output).toBe('CapEff:\t0000000000000000\n');
    }
  });
});

describe('the network', () => {
  enforced(codex, 'is off, or on', async (client) => {
    const server = createServer((socket) => socket.end('hello'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const connect = ['/bin/bash', '-c', `exec 3<>/dev/tcp/127.0.0.1/${(server.address() as AddressInfo).port} && cat <&3`];
      expect((await start(client, 'off', connect, workspaceWrite())).error).toBeUndefined();
      expect((await start(client, 'on', connect, workspaceWrite([], 'enabled'))).error).toBeUndefined();
      await Promise.all([client.whole('off'), client.whole('on')]);
      expect(client.output('off', 'stdout').toString()).toBe('');
      expect(client.output('off', 'stderr').toString()).toMatch(/refused|unreachable/);
      expect(client.output('on').toString()).toBe('hello');
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });
});

describe('a program', () => {
  enforced(codex, 'is shown as it was asked for, with the variables that were asked for', async (client) => {
    expect((await run(client, 'p', 'echo $0', readOnly(), { arg0: 'other' })).output).toBe('other\n');
    const [shown] = await codex.gateway.list();
    expect(shown).toMatchObject({ arg0: 'other', argv: ['/bin/sh', '-c', 'echo $0'], cwd: work() });
    await start(client, 'env', ['env'], readOnly(), { env: { 'A-b': '1', PATH: '/usr/bin:/bin' } });
    await client.whole('env');
    expect(client.output('env').toString().trim().split('\n').sort()).toEqual(['A-b=1', 'PATH=/usr/bin:/bin']);
  });

  enforced(codex, 'exits with its code, or with the number of what ended it', async (client) => {
    expect((await run(client, 'code', 'exit 7', readOnly())).code).toBe(7);
    expect((await run(client, 'signal', 'kill -TERM $$', readOnly())).code).toBe(143);
  });

  enforced(codex, 'gets the interrupt, and decides', async (client) => {
    await start(client, 'p', ['/bin/sh', '-c', 'trap "echo caught; exit 5" INT; echo ready; while :; do sleep 0.05; done'], readOnly());
    await client.printed('p', 'ready');
    await client.result('process/signal', { processId: 'p', signal: 'interrupt' });
    const exited = (await client.whole('p')).find(({ method }) => method === 'process/exited');
    expect([client.output('p').toString(), exited?.params.exitCode]).toEqual(['ready\ncaught\n', 5]);
  });

  enforced(codex, 'leaves nothing behind, terminated or ended by itself', async (client) => {
    const mark = `MARK=${codex.path()}-left`;
    const env = { PATH: '/usr/bin:/bin', MARK: mark.slice(5) };
    await start(client, 'p', ['/bin/sh', '-c', 'setsid sleep 600 & sleep 600 & echo ready; wait'], readOnly(), { env });
    await client.printed('p', 'ready');
    await until('all have started', () => markedProcesses(mark).length >= 4);
    expect(await client.result('process/terminate', { processId: 'p' })).toEqual({ running: true });
    await client.whole('p');
    await until('nothing is left', () => markedProcesses(mark).length === 0);
    await run(client, 'q', 'setsid sleep 600 & sleep 600 & echo ready', readOnly(), { env });
    await until('nothing is left', () => markedProcesses(mark).length === 0);
  });

  enforced(codex, 'ends with the gateway, however that ends', async () => {
    const { GatewayServer } = await import('../support/gateway-server.js');
    const { CodexClient } = await import('../support/codex-client.js');
    const gateway = await GatewayServer.start();
    await using client = await CodexClient.ready(gateway.url, { authorization: `Bearer ${gateway.token}` });
    const mark = `MARK=${codex.path()}-killed`;
    await start(client, 'p', ['/bin/sh', '-c', 'echo ready; sleep 600'], readOnly(), {
      env: { PATH: '/usr/bin:/bin', MARK: mark.slice(5) },
    });
    await client.printed('p', 'ready');
    expect(markedProcesses(mark)).not.toEqual([]);
    process.kill(gateway.pid, 'SIGKILL');
    await until('nothing is left', () => markedProcesses(mark).length === 0 && !isRunning(gateway.pid));
  });

  enforced(codex, 'on a terminal has its size, its keys and its jobs', async (client) => {
    await start(client, 'p', ['/bin/bash', '--norc', '-i'], workspaceWrite(), { tty: true, env: { PATH: '/usr/bin:/bin', PS1: '> ' } });
    const type = (text: string) =>
      client.result('process/write', { processId: 'p', writeId: text, chunk: Buffer.from(text).toString('base64') });
    await client.printed('p', '> ');
    // What is printed by the job itself: a key before it is in the foreground would be bash's, which waits on for the job.
    await type("stty size; sh -c 'echo x > /dev/tty; exec sleep 600'\n");
    await client.printed('p', '24 80\r\nx');
    await type('\x03');
    await type('echo $((40+2)) > f; cat f\n');
    await client.printed('p', '\n42');
    await type('sleep 600 &\n');
    await type('jobs; kill %1; exit 9\n');
    const exited = (await client.whole('p')).find(({ method }) => method === 'process/exited');
    expect(exited?.params.exitCode).toBe(9);
    expect(client.output('p').toString()).toContain('Running');
    expect(client.output('p').toString()).not.toContain('no job control');
  });

  enforced(codex, 'that cannot be started is told before', async (client) => {
    writeFileSync(work('hidden'), '#!/bin/sh\n', { mode: 0o755 });
    mkdirSync(work('dark'));
    const sandbox = workspaceWrite([entry(work('hidden'), 'deny'), entry(work('dark'), 'deny')]);
    for (const [argv, rest] of [
      [['no-such-program'], {}],
      [['./hidden'], {}],
      [['true'], { cwd: 'file:///no/such' }],
      [['true'], { cwd: `file://${work('dark')}` }],
    ] as const) {
      const { error } = await start(client, 'p', [...argv], sandbox, rest);
      expect([error?.code, error?.data?.kind]).toEqual([-32603, 'spawnNotFound']);
    }
    await run(client, 'p', 'true', sandbox); // the name is free
  });
});

import { describe, expect, test } from 'vitest';
import type { CodexMessage } from '../support/codex-client.js';
import { until } from '../support/proc.js';
import { useCodex } from './use-codex.js';

const codex = useCodex();
const base64 = (text: string) => Buffer.from(text).toString('base64');

/** The numbers of what was pushed, which have no hole. */
const seqs = (pushes: CodexMessage[]) => pushes.map(({ params }) => params.seq);
const upTo = (n: number) => Array.from({ length: n }, (_, i) => i + 1);

describe('what is pushed', () => {
  test('every byte, numbered without a hole, the exit as it comes, at times before the last output, and the end last', async () => {
    await using client = await codex.ready();
    await client.start('p', ['sh', '-c', 'seq 1 60000; seq 1 60000 >&2; exit 5']);
    const pushes = await client.whole('p');
    expect(seqs(pushes)).toEqual(upTo(pushes.length));
    for (const stream of ['stdout', 'stderr']) expect(client.output('p', stream).length).toBe(348_894);
    const exited_at = pushes.findIndex(({ method }) => method === 'process/exited');
    expect(pushes[exited_at]?.params).toEqual({ processId: 'p', seq: exited_at + 1, exitCode: 5, sandboxDenied: false });
    expect(pushes.map(({ method }) => method).filter((method) => method !== 'process/output')).toEqual([
      'process/exited',
      'process/closed',
    ]);
    expect(pushes.at(-1)).toEqual({ method: 'process/closed', params: { processId: 'p', seq: pushes.length } });
  });

  test('the answer to the start comes first', async () => {
    await using client = await codex.ready();
    await client.start('p', ['echo', 'hi']);
    await client.whole('p');
    const answer = client.messages.findIndex(({ result }) => result?.processId === 'p');
    expect(answer).toBeLessThan(client.messages.findIndex(({ method }) => method !== undefined));
  });

  test('200 processes at once, each whole', async () => {
    await using client = await codex.ready();
    const names = upTo(200).map((n) => `p${n}`);
    await Promise.all(names.map((name) => client.start(name, ['sh', '-c', `echo ${name}`])));
    for (const name of names) {
      const pushes = await client.whole(name);
      expect(seqs(pushes)).toEqual(upTo(pushes.length));
      expect(client.output(name).toString()).toBe(`${name}\n`);
    }
  });
});

describe('a process of a client is one like any other', () => {
  test('it is listed, and followed with curl', async () => {
    await using client = await codex.ready();
    await client.start('my "name"', ['sh', '-c', 'echo seen; sleep 60']);
    await client.printed('my "name"', 'seen');
    const label = encodeURIComponent(`codex_session=${client.sessionId}`);
    const { processes } = (await (await codex.gateway.fetch(`/processes?label=${label}`)).json()) as {
      processes: { process_id: string; labels: object }[];
    };
    expect(processes).toHaveLength(1);
    expect(processes[0]?.labels).toEqual({ codex_session: client.sessionId, codex_process: 'my "name"' });
    const id = processes[0]?.process_id as string;
    const reply = await codex.gateway.fetch(`/processes/${id}/output`, { headers: { accept: 'text/plain' } });
    expect(await reply.text()).toBe('seen\n');
    expect((await codex.gateway.fetch(`/processes/${id}?grace_ms=0`, { method: 'DELETE' })).status).toBe(200);
    const pushes = await client.whole('my "name"');
    expect(pushes.at(-2)?.params.exitCode).toBe(137);
  });
});

describe('the environment of a process', () => {
  const lines = async (policy: object | undefined, env: Record<string, string>, tty = false) => {
    await using client = await codex.ready();
    await client.start('p', ['env'], { env: { PATH: '/usr/bin:/bin', ...env }, tty, ...(policy ? { envPolicy: policy } : {}) });
    await client.whole('p');
    return client.output('p').toString().trim().split(/\r?\n/).sort();
  };
  const POLICY = { inherit: 'all', ignoreDefaultExcludes: false, exclude: [], set: {}, includeOnly: [] };

  test.each([false, true])('is exactly what was given, tty %s', async (tty) => {
    expect(await lines(undefined, { A: '1' }, tty)).toEqual(['A=1', 'PATH=/usr/bin:/bin']);
  });

  test('is made by the policy, whose globs match in any case', async () => {
    const set = { Keep_Me: '1', DROP_me: '2', my_token: '3' };
    const found = await lines({ ...POLICY, inherit: 'none', set, exclude: ['home'], includeOnly: ['keep*', 'path'] }, { LAST: '4' });
    expect(found).toEqual(['Keep_Me=1', 'LAST=4', 'PATH=/usr/bin:/bin']);
    const all = await lines({ ...POLICY, exclude: ['ho?e'] }, {});
    expect(all.some((line) => line.startsWith('HOME='))).toBe(false);
    expect(all.some((line) => /^EXEC_GATEWAY_/.test(line))).toBe(false);
  });

  test('a policy that is not whole is refused', async () => {
    await using client = await codex.ready();
    const { error } = await client.call('process/start', {
      processId: 'p',
      argv: ['env'],
      cwd: 'file:///',
      env: {},
      tty: false,
      envPolicy: { inherit: 'all' },
    });
    expect(error?.code).toBe(-32602);
  });
});

describe('input', () => {
  test('a write with a known id is not written again', async () => {
    await using client = await codex.ready();
    await client.start('p', ['cat'], { pipeStdin: true });
    const writes = ['a', 'b', 'a', 'c', 'b'].map((id) =>
      client.result('process/write', { processId: 'p', chunk: base64(id), writeId: id }),
    );
    for (const answer of await Promise.all(writes)) expect(answer).toEqual({ status: 'accepted' });
    await client.printed('p', 'abc');
    expect(client.output('p').toString()).toBe('abc');
  });

  test('5 MB in pieces that are sent without waiting arrive in order', async () => {
    await using client = await codex.ready();
    await client.start('p', ['sh', '-c', 'head -c 5000000 | sha256sum'], { pipeStdin: true });
    const bytes = Buffer.from(upTo(1_000_000).map((n) => n % 251)).subarray(0, 1_000_000);
    const writes = upTo(5).map((n) =>
      client.result('process/write', { processId: 'p', chunk: bytes.toString('base64'), writeId: String(n) }),
    );
    await Promise.all(writes);
    await client.whole('p');
    const { createHash } = await import('node:crypto');
    const sum = createHash('sha256')
      .update(Buffer.concat(upTo(5).map(() => bytes)))
      .digest('hex');
    expect(client.output('p').toString()).toContain(sum);
  });

  test('one who does not read holds up nobody else, and the queue has an end', async () => {
    await using client = await codex.ready();
    await client.start('deaf', ['sleep', '60'], { pipeStdin: true });
    const big = Buffer.alloc(3_000_000, 'x').toString('base64');
    const answers = upTo(30).map((n) => client.call('process/write', { processId: 'deaf', chunk: big, writeId: String(n) }));
    const refused = await Promise.race(answers);
    expect(refused.error?.code).toBe(-32603);
    expect(await client.result('environment/status')).toEqual({ status: 'ready' });
    expect(await client.result('process/terminate', { processId: 'deaf' })).toEqual({ running: true });
    for (const { error, result } of await Promise.all(answers)) expect([-32603, 'stdinClosed']).toContain(error?.code ?? result.status);
  });

  test('after the end', async () => {
    await using client = await codex.ready();
    await client.start('pipe', ['true'], { pipeStdin: true });
    await client.start('tty', ['true'], { tty: true });
    await client.start('none', ['true']);
    for (const name of ['pipe', 'tty', 'none']) await client.whole(name);
    const write = (processId: string) => client.call('process/write', { processId, chunk: base64('x'), writeId: '1' });
    expect((await write('pipe')).error?.code).toBe(-32603);
    expect((await write('tty')).result).toEqual({ status: 'accepted' });
    expect((await write('none')).result).toEqual({ status: 'stdinClosed' });
    expect((await write('never')).result).toEqual({ status: 'unknownProcess' });
  });
});

describe('the end', () => {
  test('a long read holds up nothing', async () => {
    await using client = await codex.ready();
    await client.start('p', ['sleep', '60']);
    const reads = upTo(70).map(() => client.result('process/read', { processId: 'p', waitMs: 60_000 }));
    expect(await client.result('environment/status')).toEqual({ status: 'ready' });
    expect((await Promise.race(reads)).chunks).toEqual([]); // 64 wait; others are told that there is nothing
    expect(await client.result('process/terminate', { processId: 'p' })).toEqual({ running: true });
    for (const read of await Promise.all(reads.slice(0, 64))) expect(read).toMatchObject({ exited: true, exitCode: 137 });
  });

  test('what a leader left behind is ended, and the output closed', async () => {
    await using client = await codex.ready();
    await client.start('p', ['sh', '-c', 'sleep 61 & echo $!; exit 3']);
    await client.find('the exit', ({ method }) => method === 'process/exited');
    const pid = Number(client.output('p').toString());
    expect(await client.result('process/terminate', { processId: 'p' })).toEqual({ running: false });
    const pushes = await client.whole('p');
    expect(pushes.find(({ method }) => method === 'process/exited')?.params.exitCode).toBe(3);
    await until('the child is gone', () => {
      try {
        return process.kill(pid, 0) && false;
      } catch {
        return true;
      }
    });
  });

  test('an interrupt reaches the group', async () => {
    await using client = await codex.ready();
    await client.start('p', ['sh', '-c', 'trap "echo caught; exit 9" INT; echo ready; while :; do sleep 0.1; done']);
    await client.printed('p', 'ready');
    expect(await client.result('process/signal', { processId: 'p', signal: 'interrupt' })).toEqual({});
    await client.whole('p');
    expect(client.output('p').toString()).toContain('caught');
    expect(await client.result('process/signal', { processId: 'p', signal: 'interrupt' })).toEqual({});
  });
});

describe('a start that fails', () => {
  test.each([
    ['a program that is not there', { argv: ['/no/such'] }, -32603, 'spawnNotFound'],
    ['a name that is not on the path', { argv: ['no-such-command'] }, -32603, 'spawnNotFound'],
    ['a directory that is not there', { cwd: 'file:///no/such' }, -32603, 'spawnNotFound'],
    ['a directory that is a file', { cwd: 'file:///etc/passwd' }, -32603, 'spawnFailed'],
    ['a program that may not run', { argv: ['/etc/passwd'] }, -32603, 'spawnPermissionDenied'],
    ['a zero byte', { argv: ['echo', 'a\0b'] }, -32602, undefined],
    ['a name of a variable that is none', { env: { 'A=B': '1' } }, -32602, undefined],
    ['arguments that are too long', { argv: ['echo', 'x'.repeat(3_000_000)] }, -32603, 'spawnFailed'],
  ])('%s', async (_what, rest, code, kind) => {
    await using client = await codex.ready();
    const start = { processId: 'p', argv: ['true'], cwd: 'file:///tmp', env: { PATH: '/usr/bin:/bin' }, tty: false };
    const { error } = await client.call('process/start', { ...start, ...rest });
    expect([error?.code, error?.data?.kind]).toEqual([code, kind]);
    await client.start('p', ['true']); // the name is free
    await client.whole('p');
  });

  test.each([
    ['a network policy', { enforceManagedNetwork: true }],
    ['a proxy', { networkProxy: {} }],
  ])('%s that cannot be kept is refused, and nothing runs', async (_what, rest) => {
    await using client = await codex.ready();
    const marker = codex.path('marker');
    const start = { processId: 'p', argv: ['touch', marker], cwd: 'file:///tmp', env: { PATH: '/usr/bin:/bin' }, tty: false };
    const { error } = await client.call('process/start', { ...start, ...rest });
    expect(error).toMatchObject({ code: -32603 });
    expect(error?.message).toContain('cannot enforce');
    expect(await client.code('process/read', { processId: 'p' })).toBe(-32600);
    const { existsSync } = await import('node:fs');
    expect(existsSync(marker)).toBe(false);
  });

  test('a sandbox that asks for nothing passes', async () => {
    await using client = await codex.ready();
    await client.start('p', ['true'], { sandbox: { permissions: { type: 'disabled' } } });
    expect(await client.whole('p')).toHaveLength(2);
  });
});

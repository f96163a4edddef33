import { readdirSync, statSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Problem, ProcessInfo } from '../../src/protocol/index.js';
import { descriptors, until } from '../support/proc.js';
import { useGateway, type WireGateway } from './use-gateway.js';

const fdCount = (gateway: WireGateway) => readdirSync(`/proc/${gateway.server.pid}/fd`).length;

/** Starts sleepers until one is refused; every second one is on a terminal. */
async function fill(gateway: WireGateway, most: number): Promise<{ started: ProcessInfo[]; problem: Problem; status: number }> {
  const started: ProcessInfo[] = [];
  for (let i = 0; i < most; i++) {
    const reply = await gateway.send('POST', '/processes', { argv: ['sleep', '60'], tty: i % 2 === 1, pipe_stdin: true });
    if (reply.status !== 201) return { started, problem: (await reply.json()) as Problem, status: reply.status };
    started.push((await reply.json()) as ProcessInfo);
    expect((await gateway.fetch('/healthz')).status).toBe(200);
  }
  throw new Error(`${most} processes were started and none was refused`);
}

/** What a full gateway still does: it answers, and its processes work. */
async function works(gateway: WireGateway, started: ProcessInfo[]): Promise<void> {
  expect((await gateway.list()).map(({ state }) => state)).toEqual(started.map(() => 'running'));
  const [first] = started as [ProcessInfo];
  const { accepted } = (await (await gateway.send('POST', `/processes/${first.process_id}/stdin`, { text: 'x' })).json()) as {
    accepted: boolean;
  };
  expect(accepted).toBe(true);
  expect((await gateway.send('POST', `/processes/${first.process_id}/signal`, { signal: 'CONT' })).status).toBe(204);
  const events = await gateway.fetch('/events');
  expect(events.status).toBe(200);
  await events.body?.cancel();
}

describe('B39 a gateway with 256 descriptors', () => {
  const gateway = useGateway({ prefix: ['prlimit', '--nofile=256'] });

  test('refuses a start that it has no room for, three times over, and leaves nothing half open', async () => {
    await gateway.send('POST', '/run', { argv: ['true'], tty: true });
    await gateway.clear();
    const before = descriptors(gateway.server.pid).length;
    for (let round = 0; round < 3; round++) {
      const { started, problem, status } = await fill(gateway, 256);
      expect([status, problem.code]).toEqual([503, 'resource_exhausted']);
      const full = fdCount(gateway);
      for (let i = 0; i < 20; i++)
        expect((await gateway.send('POST', '/processes', { argv: ['true'], tty: i % 2 === 1 })).status).toBe(503);
      await until('refused starts leave no descriptor', () => fdCount(gateway) <= full);
      await works(gateway, started);
      expect(started.length).toBeGreaterThan(30);
      await gateway.clear();
      await until('no descriptor is left', () => descriptors(gateway.server.pid).length <= before);
      const { exit_code } = await (await gateway.send('POST', '/run', { argv: ['true'] })).json();
      expect(exit_code).toBe(0);
      await gateway.clear();
    }
  });
});

describe('B39 a gateway with --max-processes 10', () => {
  const gateway = useGateway({ flags: ['--max-processes', '10'] });

  test('refuses the eleventh with the limit, and starts again when one has ended', async () => {
    const { started, problem, status } = await fill(gateway, 11);
    expect([started.length, status, problem]).toMatchObject([10, 429, { code: 'too_many_processes', limit: 10 }]);
    const run = await gateway.send('POST', '/run', { argv: ['true'] });
    expect([run.status, run.headers.get('retry-after')]).toEqual([429, '1']);
    await works(gateway, started);
    await gateway.fetch(`/processes/${started[0]?.process_id}?grace_ms=0&wait_ms=10000`, { method: 'DELETE' });
    expect((await gateway.start(['true'])).state).toBe('running');
  });

  test('counts starts that come all at once', async () => {
    const starts = Array.from({ length: 40 }, (_, i) => gateway.send('POST', '/processes', { argv: ['sleep', '60'], tty: i % 2 === 1 }));
    const statuses = (await Promise.all(starts)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(30);
  });
});

/** Runs a program under a limit of processes. Root has none, so as another user, who may still read the files of this one. */
function withFewProcesses(): string[] {
  const uid = process.getuid?.() ?? 0;
  if (uid !== 0) return ['prlimit', `--nproc=${threadsOf(uid) + FEW}`];
  const caps = ['--inh-caps=+dac_override', '--ambient-caps=+dac_override'];
  return ['setpriv', `--reuid=${OTHER_UID}`, `--regid=${OTHER_UID}`, '--clear-groups', ...caps, 'prlimit', `--nproc=${FEW}`];
}

const FEW = 40;
const OTHER_UID = 48_211;

/** The limit counts threads, all those of a user. */
function threadsOf(uid: number): number {
  const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return ids.reduce((count, id) => count + (ownedBy(uid, `/proc/${id}`) ? readdirSync(`/proc/${id}/task`).length : 0), 0);
}

function ownedBy(uid: number, path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.uid === uid;
}

describe('B39 a gateway whose user may have few processes', () => {
  const prefix = withFewProcesses();
  const gateway = useGateway({ prefix, env: { HOME: '/', UV_THREADPOOL_SIZE: '2' } });

  test('refuses a start, goes on, and starts again after', async () => {
    const { started, problem, status } = await fill(gateway, 60);
    expect([status, problem.code]).toEqual([503, 'resource_exhausted']);
    expect(started.length).toBeGreaterThan(3);
    const full = fdCount(gateway);
    for (let i = 0; i < 10; i++) expect((await gateway.send('POST', '/processes', { argv: ['true'], tty: i % 2 === 1 })).status).toBe(503);
    await until('refused starts leave no descriptor', () => fdCount(gateway) <= full);
    await works(gateway, started);
    await gateway.clear();
    expect((await gateway.start(['true'])).state).toBe('running');
  });
});

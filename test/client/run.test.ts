import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Gateway, type RunProcessOptions } from '../../src/client/index.js';
import { CuttingProxy } from '../support/cutting-proxy.js';
import { GatewayServer } from '../support/gateway-server.js';
import { StubGateway, sendProblem } from '../support/stub-gateway.js';

const MIB = 1024 * 1024;
const RETRY = { first_delay_ms: 1, max_delay_ms: 10 };
const dir = mkdtempSync(join(tmpdir(), 'client-run-'));
const lines = (to: number) => Array.from({ length: to }, (_, at) => `${at + 1}\n`).join('');

let server: GatewayServer;
beforeAll(async () => {
  server = await GatewayServer.start({ flags: ['--log-level', 'warn', '--allow-host', '127.0.0.1'] });
});
afterAll(async () => {
  await server?.stop();
  rmSync(dir, { recursive: true, force: true });
});

const direct = () => new Gateway({ url: server.url, token: server.token as string, retry: RETRY });

/** Runs a script over a line that breaks when the request has arrived: the run has to be found again. */
async function runLost(script: string, options: RunProcessOptions & { encoding?: 'utf8' } = {}) {
  await using proxy = await CuttingProxy.open(server.url, (count) => (count === 0 ? 0 : null));
  const gateway = new Gateway({ url: proxy.url, token: server.token as string, retry: RETRY });
  const result = await gateway.run(['sh', '-c', script], options);
  expect(proxy.cuts).toBe(1);
  return result;
}

describe('a run whose answer is lost', () => {
  test('is found again with all its output, and did not run twice', async () => {
    const marker = join(dir, 'once');
    const result = await runLost(`echo ran >> ${marker}; sleep 0.2; seq 100000; echo oops >&2; exit 3`);
    expect(result).toMatchObject({ stderr: 'oops\n', exit_code: 3, signal: null, reason: 'exited', truncated: false });
    expect(result.stdout).toBe(lines(100_000));
    expect(readFileSync(marker, 'utf8')).toBe('ran\n');
  });

  test('keeps the head of a burst, and what else is wanted after it', async () => {
    const result = await runLost('sleep 0.3; seq 1000000; echo oops >&2');
    expect(result.stdout).toBe(lines(200_000).slice(0, MIB));
    expect(result).toMatchObject({ stderr: 'oops\n', exit_code: 0, truncated: true });
  });

  test('does not wait for one that holds its output', async () => {
    const result = await runLost('echo hi; sleep 30 & exit 4', { labels: { holder: 'yes' } });
    expect(result).toMatchObject({ stdout: 'hi\n', exit_code: 4, reason: 'exited', truncated: false });
    await direct().terminate(result.process_id);
  });

  test('waits for the end of one that prints for ever', async () => {
    const result = await runLost('yes & yes no >&2', { timeout_ms: 1_500, max_bytes: 1_000 });
    expect(result).toMatchObject({ exit_code: 143, signal: 'SIGTERM', reason: 'timed_out', truncated: true });
    // Where they begin depends on when the run was found again.
    expect(result.stdout).toMatch(/^[y\n]{1000}$/);
    expect(result.stderr).toMatch(/^[no\n]{1000}$/);
  });

  test('can be given up, and goes on', async () => {
    const reason = new Error('enough');
    const controller = new AbortController();
    const process_id = `given-up-${Date.now()}`;
    const running = runLost('echo up; sleep 600', { process_id, signal: controller.signal });
    for await (const event of direct().follow(await appeared(process_id))) if (event.event === 'output') break;
    controller.abort(reason);
    await expect(running).rejects.toBe(reason);
    expect(await direct().terminate(process_id)).toEqual({ running: true });
  });
});

/** Resolves when there is a process of this id. */
async function appeared(process_id: string): Promise<string> {
  for await (const change of direct().watch()) {
    const processes = change.event === 'snapshot' ? change.processes : change.event === 'started' ? [change.process] : [];
    if (processes.some((process) => process.process_id === process_id)) return process_id;
  }
  throw new Error('The watch ended.');
}

test('20 runs over a line that breaks anywhere: each ran once and told all', async () => {
  await using proxy = await CuttingProxy.open(server.url, () => (Math.random() < 0.5 ? Math.ceil(Math.random() * 30_000) : null));
  const gateway = new Gateway({ url: proxy.url, token: server.token as string, retry: RETRY });
  const runs = Array.from({ length: 20 }, async (_, i) => {
    const marker = join(dir, `many-${i}`);
    const { stdout, exit_code, truncated } = await gateway.run(['sh', '-c', `echo ran >> ${marker}; seq 10000; exit ${i}`]);
    expect([stdout, exit_code, truncated, readFileSync(marker, 'utf8')]).toEqual([lines(10_000), i, false, 'ran\n']);
  });
  await Promise.all(runs);
  expect(proxy.cuts).toBeGreaterThan(0);
});

test('a call that is never answered is made again', async () => {
  await using stub = await StubGateway.open((call) => {
    if (call.count > 0) sendProblem(call, 'command_not_found');
  });
  const gateway = new Gateway({ url: stub.url, retry: { ...RETRY, silence_ms: 100 } });
  await expect(gateway.start(['x'])).rejects.toMatchObject({ code: 'command_not_found' });
  expect(stub.queries.length).toBeGreaterThan(1); // more where the second answer took 100 ms too
});

test('a run longer than one answer may take: nothing is lost where one answer ends and the next begins', async () => {
  const script = 'echo early; sleep 29; seq 100000; sleep 3; seq 100000; echo late >&2';
  const held = 'echo early; (sleep 29.5; exit 0); sleep 600 & exit 4';
  const [whole, left] = await Promise.all([
    direct().run(['sh', '-c', `${script}; exit 3`], { max_bytes: 2 * MIB }),
    direct().run(['sh', '-c', held]),
  ]);
  await direct().terminate(left.process_id);
  expect(whole.stdout).toBe(`early\n${lines(100_000)}${lines(100_000)}`);
  expect(whole).toMatchObject({ stderr: 'late\n', exit_code: 3, reason: 'exited', truncated: false });
  expect(left).toMatchObject({ stdout: 'early\n', exit_code: 4, reason: 'exited' });
  expect(left.duration_ms).toBeLessThan(45_000);
});

test('a snapshot of many MiB comes whole', async () => {
  const gateway = direct();
  const argv = ['sh', '-c', 'exit 0', ...Array.from({ length: 10 }, () => 'x'.repeat(100_000))];
  const started = await Promise.all(Array.from({ length: 20 }, () => gateway.start(argv, { labels: { size: 'large' } })));
  for await (const change of gateway.watch({ label: ['size=large'] })) {
    if (change.event !== 'snapshot') continue;
    expect(change.processes.map(({ process_id }) => process_id).sort()).toEqual(started.map(({ process_id }) => process_id).sort());
    break;
  }
});

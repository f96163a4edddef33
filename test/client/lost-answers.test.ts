import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Gateway, RemoteExecProcess } from '../../src/client/index.js';
import { retrySettings } from '../../src/client/retry.js';
import { runToEnd } from '../../src/client/run-to-end.js';
import type { RunRequest } from '../../src/protocol/run.js';
import { CuttingProxy } from '../support/cutting-proxy.js';
import { GatewayServer } from '../support/gateway-server.js';

const QUICK = { first_delay_ms: 1, max_delay_ms: 20 };
const LINES = 'for i in $(seq 200); do echo "line $i"; done; echo done >&2';
const lines = Array.from({ length: 200 }, (_, i) => `line ${i + 1}\n`).join('');

const addressOf = ({ url, token }: GatewayServer) => ({ url, token: token ?? undefined });

let server: GatewayServer;
let gateway: Gateway;
let dir: string;
beforeAll(async () => {
  server = await GatewayServer.start({ flags: ['--allow-host', '127.0.0.1', '--log-level', 'warn'] });
  gateway = new Gateway({ ...addressOf(server), retry: QUICK });
  dir = mkdtempSync(join(tmpdir(), 'client-'));
});
afterAll(async () => {
  await server?.stop();
  rmSync(dir, { recursive: true });
});

/** A gateway whose first connections are cut after so many bytes of their answers. */
async function farGateway(bytes: number[]) {
  const proxy = await CuttingProxy.open(server.url, (count) => bytes[count] ?? null);
  return { proxy, far: new Gateway({ ...addressOf(server), url: proxy.url, retry: QUICK }) };
}

test('a run whose answer is lost is found again: it ran once, and nothing of it is missing', async () => {
  const { proxy, far } = await farGateway([1, 30, 200]);
  await using _ = proxy;
  const file = join(dir, 'once');
  const result = await far.run(['sh', '-c', `echo ran >> ${file}; cat; ${LINES}; exit 7`], { input: 'in\n' });
  expect(result).toMatchObject({ exit_code: 7, reason: 'exited', stdout: `in\n${lines}`, stderr: 'done\n', truncated: false });
  expect(readFileSync(file, 'utf8')).toBe('ran\n');
  expect(proxy.cuts).toBe(3);
});

test('a start whose answer is lost started once', async () => {
  const { proxy, far } = await farGateway([1, 100]);
  await using _ = proxy;
  const file = join(dir, 'started');
  const { process_id } = await far.start(['sh', '-c', `echo ran >> ${file}`]);
  expect((await far.wait(process_id)).exit_code).toBe(0);
  expect(readFileSync(file, 'utf8')).toBe('ran\n');
  expect(proxy.cuts).toBe(2);
});

test('an id that is taken is told, not taken for its own', async () => {
  await gateway.run(['true'], { process_id: 'taken' });
  await expect(gateway.run(['true'], { process_id: 'taken' })).rejects.toMatchObject({ code: 'process_exists' });
  await expect(gateway.start(['false'], { process_id: 'taken' })).rejects.toMatchObject({ code: 'process_exists' });
});

test('a run longer than one answer waits on and gathers the rest', async () => {
  class Hasty extends RemoteExecProcess {
    override run(request: RunRequest) {
      return super.run({ ...request, wait_ms: 150 });
    }
  }
  const script = 'for i in 1 2 3 4 5; do echo $i; echo e$i >&2; sleep 0.1; done; exit 5';
  const run = (rest: Partial<RunRequest>) => {
    const request = { argv: ['sh', '-c', script], process_id: `long-${crypto.randomUUID()}`, ...rest };
    return runToEnd(new Hasty(addressOf(server)), request, retrySettings());
  };
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  const whole = await run({});
  expect(whole).toMatchObject({ exit_code: 5, reason: 'exited', truncated: false });
  expect([text(whole.stdout), text(whole.stderr)]).toEqual(['1\n2\n3\n4\n5\n', 'e1\ne2\ne3\ne4\ne5\n']);
  expect(whole.duration_ms).toBeGreaterThan(400);
  const head = await run({ max_bytes: 6 });
  expect([text(head.stdout), text(head.stderr), head.truncated]).toEqual(['1\n2\n3\n', 'e1\ne2\n', true]);
});

test('a run that is given up goes on, and the gateway takes it for no fault', async () => {
  const own = await GatewayServer.start();
  const near = new Gateway(addressOf(own));
  const process_id = 'given-up';
  const reason = new Error('no time');
  const controller = new AbortController();
  const run = near.run(['sleep', '60'], { process_id, signal: controller.signal });
  run.catch(() => {});
  for await (const change of near.watch()) {
    if (change.event === 'snapshot' && change.processes.some((process) => process.process_id === process_id)) break;
    if (change.event === 'started' && change.process.process_id === process_id) break;
  }
  controller.abort(reason);
  await expect(run).rejects.toBe(reason);
  expect(await near.get(process_id)).toMatchObject({ state: 'running' });
  expect(await near.terminate(process_id, { wait_ms: 10_000 })).toEqual({ running: true });
  await own.stop();
});

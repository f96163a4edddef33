import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Gateway, type ProcessEvent, RemoteExecProcess } from '../../src/client/index.js';
import { retrySettings } from '../../src/client/retry.js';
import { runToEnd } from '../../src/client/run-to-end.js';
import type { RunRequest } from '../../src/protocol/run.js';
import { type Client, type ClientRuntime, openRuntime, RUNTIMES } from '../support/client-runtime.js';
import { CuttingProxy } from '../support/cutting-proxy.js';
import { GatewayServer } from '../support/gateway-server.js';

interface Address {
  url: string;
  token: string | undefined;
}

const QUICK = { first_delay_ms: 1, max_delay_ms: 20 };
/** Prints 200 lines, which come in many chunks, and a word on stderr. */
const LINES = 'for i in $(seq 200); do echo "line $i"; done; echo done >&2';
const lines = Array.from({ length: 200 }, (_, i) => `line ${i + 1}\n`).join('');

const addressOf = ({ url, token }: GatewayServer): Address => ({ url, token: token ?? undefined });

/** What a stub cannot show: code of the page against a real gateway. */
async function tour({ Gateway, GatewayError }: Client, address: Address) {
  const gateway = new Gateway(address);
  const { stdout, exit_code, reason } = await gateway.run(['sh', '-c', 'cat; exit 3'], { input: 'é€😀\n' });
  const bytes = await gateway.run(['printf', '\\377'], { encoding: 'bytes' });
  const { process_id } = await gateway.start(['cat'], { pipe_stdin: true, labels: { tour: 'yes' } });
  await gateway.write(process_id, 'one\n');
  const told: string[] = [];
  let place = 0;
  for await (const event of gateway.follow(process_id)) {
    if (event.event !== 'output') continue;
    told.push(new TextDecoder().decode(event.chunk));
    place = event.seq;
    break; // and go on from here
  }
  await gateway.write(process_id, new TextEncoder().encode('two\n'), { eof: true });
  for await (const event of gateway.follow(process_id, { after_seq: place })) {
    told.push(event.event === 'output' ? new TextDecoder().decode(event.chunk) : event.event);
  }
  const failed = await gateway.run(['no-such-program']).catch((error: unknown) => error);
  return {
    run: { stdout, exit_code, reason },
    bytes: Array.from(bytes.stdout),
    told,
    code: failed instanceof GatewayError ? failed.code : null,
  };
}

/** Follows a process that runs through connections that are cut. */
async function followed({ Gateway }: Client, { address, script }: { address: Address; script: string }) {
  const gateway = new Gateway({ ...address, retry: { first_delay_ms: 1, max_delay_ms: 20 } });
  const { process_id } = await gateway.start(['sh', '-c', script]);
  const seqs: number[] = [];
  let stdout = '';
  for await (const event of gateway.follow(process_id)) {
    if (event.event !== 'gap') seqs.push(event.seq);
    if (event.event === 'output' && event.stream === 'stdout') stdout += new TextDecoder().decode(event.chunk);
  }
  return { seqs, stdout };
}

describe.each(RUNTIMES)('a gateway from %s', (name) => {
  let runtime: ClientRuntime;
  let server: GatewayServer;
  beforeAll(async () => {
    runtime = await openRuntime(name);
    const origins = runtime.origin === null ? [] : ['--allow-origin', runtime.origin];
    server = await GatewayServer.start({ flags: ['--allow-host', '127.0.0.1', ...origins] });
  });
  afterAll(async () => {
    await runtime?.close();
    await server?.stop();
  });

  test('run, start, write, follow, resume, errors', async () => {
    expect(await runtime.run(tour, addressOf(server))).toEqual({
      run: { stdout: 'é€😀\n', exit_code: 3, reason: 'exited' },
      bytes: [255],
      told: ['one\n', 'two\n', 'exited', 'closed'],
      code: 'command_not_found',
    });
  });

  test('a follower through connections that are cut misses nothing', async () => {
    // Answers of a start and of preflights pass whole; then every connection is cut somewhere in the stream.
    const cuts = [...Array.from({ length: 12 }, (_, i) => 1_500 + 137 * i)];
    await using proxy = await CuttingProxy.open(server.url, cuts);
    const script = 'for i in $(seq 200); do echo "line $i"; sleep 0.002; done';
    const { seqs, stdout } = await runtime.run(followed, { address: { ...addressOf(server), url: proxy.url }, script });
    expect(stdout).toBe(lines);
    expect(seqs).toEqual(seqs.map((_, i) => i + 1));
    expect(proxy.cuts).toBeGreaterThan(2);
  });
});

describe('the whole of a gateway', () => {
  let server: GatewayServer;
  let gateway: Gateway;
  let dir: string;
  beforeAll(async () => {
    server = await GatewayServer.start({ flags: ['--allow-host', '127.0.0.1'] });
    gateway = new Gateway({ ...addressOf(server), retry: QUICK });
    dir = mkdtempSync(join(tmpdir(), 'client-'));
  });
  afterAll(async () => {
    await server?.stop();
    rmSync(dir, { recursive: true });
  });

  test('a run whose answer is lost is found again: it ran once, and nothing of it is missing', async () => {
    await using proxy = await CuttingProxy.open(server.url, [1, 30, 200]);
    const far = new Gateway({ ...addressOf(server), url: proxy.url, retry: QUICK });
    const file = join(dir, 'once');
    const result = await far.run(['sh', '-c', `echo ran >> ${file}; cat; ${LINES}; exit 7`], { input: 'in\n' });
    expect(result).toMatchObject({ exit_code: 7, reason: 'exited', stdout: `in\n${lines}`, stderr: 'done\n', truncated: false });
    expect(readFileSync(file, 'utf8')).toBe('ran\n');
    expect(proxy.cuts).toBe(3);
  });

  test('a start whose answer is lost started once', async () => {
    await using proxy = await CuttingProxy.open(server.url, [1, 100]);
    const far = new Gateway({ ...addressOf(server), url: proxy.url, retry: QUICK });
    const file = join(dir, 'started');
    const { process_id } = await far.start(['sh', '-c', `echo ran >> ${file}`]);
    expect((await far.wait(process_id)).exit_code).toBe(0);
    expect(readFileSync(file, 'utf8')).toBe('ran\n');
    expect(proxy.cuts).toBe(2);
  });

  test('a run longer than one answer waits on and gathers the rest', async () => {
    class Hasty extends RemoteExecProcess {
      override run(request: RunRequest) {
        return super.run({ ...request, wait_ms: 150 });
      }
    }
    const script = 'for i in 1 2 3 4 5; do echo $i; echo e$i >&2; sleep 0.1; done; exit 5';
    const run = (rest: Partial<RunRequest>) =>
      runToEnd(
        new Hasty(addressOf(server)),
        { argv: ['sh', '-c', script], process_id: `long-${crypto.randomUUID()}`, ...rest },
        retrySettings(),
      );
    const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
    const whole = await run({});
    expect(whole).toMatchObject({ exit_code: 5, reason: 'exited', truncated: false });
    expect([text(whole.stdout), text(whole.stderr)]).toEqual(['1\n2\n3\n4\n5\n', 'e1\ne2\ne3\ne4\ne5\n']);
    expect(whole.duration_ms).toBeGreaterThan(400);
    const head = await run({ max_bytes: 6 });
    expect([text(head.stdout), text(head.stderr), head.truncated]).toEqual(['1\n2\n3\n', 'e1\ne2\n', true]);
  });

  test('an id that is taken is told, not taken for its own', async () => {
    await gateway.run(['true'], { process_id: 'taken' });
    await expect(gateway.run(['true'], { process_id: 'taken' })).rejects.toMatchObject({ code: 'process_exists' });
    await expect(gateway.start(['false'], { process_id: 'taken' })).rejects.toMatchObject({ code: 'process_exists' });
  });

  test('list, all, get, wait', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.push((await gateway.start(['true'], { labels: { group: 'five' } })).process_id);
    for (const id of ids) expect(await gateway.wait(id)).toMatchObject({ exit_code: 0, reason: 'exited' });
    const page = await gateway.list({ label: ['group=five'], limit: 2 });
    expect(page.processes.map(({ process_id }) => process_id)).toEqual(ids.slice(0, 2));
    const all: string[] = [];
    for await (const { process_id } of gateway.all({ label: ['group=five'], limit: 2 })) all.push(process_id);
    expect(all).toEqual(ids);
    expect(await gateway.get(ids[0]!)).toMatchObject({ process_id: ids[0], labels: { group: 'five' } });
  });

  test('signal, resize, terminate, read', async () => {
    const { process_id } = await gateway.start(
      ['sh', '-c', 'trap "stty size" WINCH; trap "echo int; exit 9" INT; echo ready; while :; do sleep 0.02; done'],
      {
        tty: true,
      },
    );
    const seen: ProcessEvent[] = [];
    let text = '';
    for await (const event of gateway.follow(process_id)) {
      seen.push(event);
      if (event.event === 'output') text += new TextDecoder().decode(event.chunk);
      if (text.endsWith('ready\r\n')) await gateway.resize(process_id, { cols: 101, rows: 33 });
      if (text.endsWith('33 101\r\n')) await gateway.signal(process_id, 'int', { scope: 'leader' });
    }
    expect(seen.at(-2)).toMatchObject({ event: 'exited', exit_code: 9 });
    expect(text).toContain('int\r\n');
    expect(await gateway.read(process_id, { after_seq: 0 })).toMatchObject({ exited: true, exit_code: 9, closed: true });
    expect(await gateway.terminate(process_id, { purge: true })).toEqual({ running: false });
    await expect(gateway.get(process_id)).rejects.toMatchObject({ code: 'process_not_found' });
  });

  test('watch tells of processes from start to end', async () => {
    const names: string[] = [];
    let process_id = '';
    for await (const change of gateway.watch({ label: ['watched=yes'], output: true })) {
      names.push(change.event);
      if (change.event === 'snapshot') process_id = (await gateway.start(['echo', 'hi'], { labels: { watched: 'yes' } })).process_id;
      if (change.event === 'output') expect(new TextDecoder().decode(change.chunk)).toBe('hi\n');
      if (change.event === 'closed') void gateway.terminate(process_id, { purge: true });
      if (change.event === 'removed') break;
    }
    expect(names.filter((name) => name !== 'output')).toEqual(['snapshot', 'started', 'exited', 'closed', 'removed']);
    expect(names).toContain('output');
  });
});

test('a run that is given up goes on, and the gateway takes it for no fault', async () => {
  const server = await GatewayServer.start();
  const gateway = new Gateway(addressOf(server));
  const process_id = 'given-up';
  const reason = new Error('no time');
  const controller = new AbortController();
  const run = gateway.run(['sleep', '60'], { process_id, signal: controller.signal });
  run.catch(() => {});
  for await (const change of gateway.watch()) {
    if (change.event === 'snapshot' && change.processes.some((process) => process.process_id === process_id)) break;
    if (change.event === 'started' && change.process.process_id === process_id) break;
  }
  controller.abort(reason);
  await expect(run).rejects.toBe(reason);
  expect(await gateway.get(process_id)).toMatchObject({ state: 'running' });
  expect(await gateway.terminate(process_id, { wait_ms: 10_000 })).toEqual({ running: true });
  await server.stop();
});

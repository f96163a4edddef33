import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Client, type ClientRuntime, openRuntime, RUNTIMES } from '../support/client-runtime.js';
import { CuttingProxy } from '../support/cutting-proxy.js';
import { GatewayServer } from '../support/gateway-server.js';

interface Place {
  url: string;
  token: string;
}

/** Runs programs: text, bytes, input, signal, environment. */
async function runAll({ Gateway }: Client, place: Place) {
  const gateway = new Gateway(place);
  const both = await gateway.run(['sh', '-c', 'echo out; echo err >&2; exit 3']);
  const fed = await gateway.run(['sort'], { input: 'b\na\n' });
  const raw = await gateway.run(['cat'], { input_base64: '/wD+Cg==', encoding: 'bytes' });
  const killed = await gateway.run(['sh', '-c', 'kill -9 $$']);
  const tty = await gateway.run(['sh', '-c', 'tput cols; echo $WORD'], { tty: { cols: 99 }, env: { WORD: 'é€😀' } });
  const cut = await gateway.run(['seq', '1000'], { max_bytes: 10 });
  return {
    both: [both.stdout, both.stderr, both.exit_code, both.signal, both.reason, both.truncated],
    fed: fed.stdout,
    raw: Array.from(raw.stdout),
    killed: [killed.exit_code, killed.signal, killed.reason],
    tty: tty.stdout,
    cut: [cut.stdout, cut.truncated],
  };
}

/** Starts, feeds, waits, lists, signals, resizes, ends; tells what is refused. */
async function control({ Gateway, GatewayError }: Client, place: Place) {
  const gateway = new Gateway(place);
  const code = async (call: Promise<unknown>) => {
    const error = await call.then(
      () => null,
      (reason: unknown) => reason,
    );
    return error instanceof GatewayError ? `${error.status} ${error.code}` : String(error);
  };
  const labels = { of: 'control', at: place.url };
  const cat = await gateway.start(['cat'], { pipe_stdin: true, labels });
  const again = await gateway.start(['cat'], { pipe_stdin: true, labels, process_id: cat.process_id });
  const written = [await gateway.write(cat.process_id, 'é\n'), await gateway.write(cat.process_id, new Uint8Array([1]), { eof: true })];
  const ended = await gateway.wait(cat.process_id);
  const { chunks } = await gateway.read(cat.process_id);
  const tty = await gateway.start(['sh', '-c', 'trap "tput cols; exit 5" WINCH; echo ready; while :; do sleep 0.01; done'], {
    tty: true,
    labels,
  });
  for await (const event of gateway.follow(tty.process_id)) if (event.event === 'output') break;
  await gateway.resize(tty.process_id, { cols: 123, rows: 45 });
  const resized = await gateway.wait(tty.process_id);
  const sleeper = await gateway.start(['sleep', '600'], { labels });
  await gateway.signal(sleeper.process_id, 'int');
  const interrupted = await gateway.wait(sleeper.process_id);
  const other = await gateway.start(['sleep', '600'], { labels });
  const terminated = await gateway.terminate(other.process_id, { wait_ms: 10_000 });
  const label = ['of=control', `at=${place.url}`];
  const listed: string[] = [];
  for await (const { process_id } of gateway.all({ label, limit: 1 })) listed.push(process_id);
  return {
    same: again.process_id === cat.process_id && again.pid === cat.pid,
    written,
    ended: [ended.exit_code, ended.reason],
    output: chunks.flatMap(({ chunk }) => Array.from(chunk)),
    resized: resized.exit_code,
    interrupted: interrupted.signal,
    terminated,
    listed: JSON.stringify(listed) === JSON.stringify([cat, tty, sleeper, other].map(({ process_id }) => process_id)),
    page: (await gateway.list({ label, state: 'closed', limit: 3 })).processes.length,
    refused: [
      await code(gateway.run(['no-such-program'])),
      await code(gateway.get('nobody')),
      await code(gateway.follow('nobody').next()),
      await code(gateway.follow(cat.process_id, { after_seq: 999 }).next()),
      await code(gateway.write(cat.process_id, 'more')),
      await code(gateway.resize(sleeper.process_id, { cols: 1, rows: 1 })),
      await code(gateway.signal(cat.process_id, 'TERM')),
      await code(gateway.start(['true'], { process_id: cat.process_id })),
      await code(new Gateway({ url: place.url, token: 'wrong' }).list()),
    ],
  };
}

/** Follows, leaves in the middle, and goes on from there; then all is over. */
async function followOn({ Gateway }: Client, place: Place) {
  const gateway = new Gateway(place);
  const { process_id } = await gateway.start(['sh', '-c', 'for i in $(seq 300); do echo $i; sleep 0.002; done; echo é€😀 >&2; exit 2']);
  const seqs: number[] = [];
  let text = '';
  let ends = '';
  const decoder = new TextDecoder();
  for (let leave = 20; !ends.endsWith('closed '); leave += 20) {
    for await (const event of gateway.follow(process_id, { after_seq: seqs.length })) {
      if (event.event === 'gap') throw new Error('gap');
      if (event.event === 'output') text += decoder.decode(event.chunk);
      else ends += `${event.event} ${event.event === 'exited' ? `${event.exit_code} ` : ''}`;
      if (seqs.push(event.seq) === leave) break;
    }
  }
  const after: unknown[] = [];
  for await (const event of gateway.follow(process_id, { after_seq: seqs.length })) after.push(event);
  return { inOrder: seqs.every((seq, at) => seq === at + 1), text, ends, after };
}

/** Watches what happens to the processes of one label. */
async function watchOne({ Gateway }: Client, place: Place) {
  const gateway = new Gateway(place);
  const labels = { watched: String(Math.random()) };
  const seen: string[] = [];
  let process_id = '';
  for await (const change of gateway.watch({ label: [`watched=${labels.watched}`], output: true })) {
    if (change.event === 'snapshot') process_id = (await gateway.start(['sh', '-c', 'echo hi; exit 1'], { labels })).process_id;
    seen.push(change.event === 'output' ? `output ${new TextDecoder().decode(change.chunk)}` : change.event);
    if (change.event === 'closed') await gateway.terminate(process_id, { purge: true });
    if (change.event === 'removed') break;
  }
  return seen;
}

/** Follows over a line that breaks. */
async function followBroken({ Gateway }: Client, { broken, ...place }: Place & { broken: string }) {
  const gateway = new Gateway({ ...place, url: broken, retry: { first_delay_ms: 1, max_delay_ms: 10 } });
  const { process_id } = await new Gateway(place).start([
    'sh',
    '-c',
    'for i in $(seq 40); do seq $((i*500-499)) $((i*500)); sleep 0.02; done',
  ]);
  const seqs: number[] = [];
  let text = '';
  let closed = 0;
  for await (const event of gateway.follow(process_id)) {
    if (event.event === 'gap') throw new Error('gap');
    seqs.push(event.seq);
    if (event.event === 'output') text += new TextDecoder().decode(event.chunk);
    if (event.event === 'closed') closed++;
  }
  return { inOrder: seqs.every((seq, at) => seq === at + 1), text, closed };
}

const lines = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => `${from + at}\n`).join('');

describe.each(RUNTIMES)('a gateway from %s', (name) => {
  let runtime: ClientRuntime;
  let server: GatewayServer;
  let place: Place;
  beforeAll(async () => {
    runtime = await openRuntime(name);
    const origin = runtime.origin === null ? [] : ['--allow-origin', runtime.origin];
    server = await GatewayServer.start({ flags: ['--log-level', 'warn', '--allow-host', '127.0.0.1', ...origin] });
    place = { url: server.url, token: server.token as string };
  });
  afterAll(async () => {
    await runtime?.close();
    await server?.stop();
  });

  test('run', async () => {
    expect(await runtime.run(runAll, place)).toEqual({
      both: ['out\n', 'err\n', 3, null, 'exited', false],
      fed: 'a\nb\n',
      raw: [255, 0, 254, 10],
      killed: [137, 'SIGKILL', 'signaled'],
      tty: '99\r\né€😀\r\n',
      cut: ['1\n2\n3\n4\n5\n', true],
    });
  });

  test('start, write, wait, list, signal, resize, terminate, and what is refused', async () => {
    expect(await runtime.run(control, place)).toEqual({
      same: true,
      written: [
        { accepted: true, accepted_bytes: 3 },
        { accepted: true, accepted_bytes: 4 },
      ],
      ended: [0, 'exited'],
      output: [195, 169, 10, 1],
      resized: 5,
      interrupted: 'SIGINT',
      terminated: { running: true },
      listed: true,
      page: 3,
      refused: [
        '422 command_not_found',
        '404 process_not_found',
        '404 process_not_found',
        '409 cursor_ahead',
        '409 process_exited',
        '409 not_a_tty',
        '409 process_exited',
        '409 process_exists',
        '401 unauthorized',
      ],
    });
  });

  test('follow, and go on after the last event seen', async () => {
    expect(await runtime.run(followOn, place)).toEqual({
      inOrder: true,
      text: `${lines(1, 300)}é€😀\n`,
      ends: 'exited 2 closed ',
      after: [],
    });
  });

  test('watch', async () => {
    expect(await runtime.run(watchOne, place)).toEqual(['snapshot', 'started', 'output hi\n', 'exited', 'closed', 'removed']);
  });

  test('B22 follow over a line that breaks 30 times: no hole, nothing twice, closed once', async () => {
    let left = 30;
    // Cut anywhere, in headers and in events; not at once, since the first connection is tried once.
    await using proxy = await CuttingProxy.open(server.url, (count) => {
      if (left-- <= 0) return null;
      return count < 2 ? 3_000 : Math.ceil(Math.random() * 4_000);
    });
    const seen = await runtime.run(followBroken, { ...place, broken: proxy.url });
    expect(seen).toEqual({ inOrder: true, text: lines(1, 20_000), closed: 1 });
    expect(proxy.cuts).toBe(30);
  });
});

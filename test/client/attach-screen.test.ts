import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { type AttachOptions, attach, Gateway } from '../../src/client/index.js';
import type { ProcessEvent } from '../../src/protocol/index.js';
import { feed, shownBy, viewer } from '../process/screen-model.js';
import { CuttingProxy } from '../support/cutting-proxy.js';
import { codeOf } from '../support/told.js';
import { AttachClient } from '../wire/attach-client.js';
import { useGateway } from '../wire/use-gateway.js';

const gateway = useGateway({ flags: ['--allow-host', '127.0.0.1'] });
const RETRY = { first_delay_ms: 5, max_delay_ms: 20 };
const SIZE = { cols: 40, rows: 10 };
/** Draws on the alternate screen, in colour, and ends in the middle of a sequence; then goes on from there. */
const DRAWS = [
  String.raw`stty raw -echo; printf '\033[?1049h\033[?2004h\033[2J\033[3;5Hf\033[31mirst\033[0'`,
  String.raw`head -c 1 > /dev/null; printf 'm plain \033[44mblue'; head -c 1 > /dev/null`,
].join('; ');

/** Ends with 3, once what it leaves behind survives that; which prints to the terminal when it is gone, and sees that by its parent. */
const OUTLIVED = `
  const { spawn } = require('node:child_process');
  console.log('hi');
  const rest = 'trap "" HUP; echo >&3; while read -r _ _ _ parent _ < /proc/$$/stat; [ $parent = ' + process.pid + ' ]; do :; done; sleep 0.3; echo still';
  spawn('sh', ['-c', rest], { stdio: ['inherit', 'inherit', 'inherit', 'pipe'] }).stdio[3].on('data', () => process.exit(3));
`;

const to = (process_id: string, rest: Partial<AttachOptions> = {}) =>
  attach({ url: gateway.server.url, token: gateway.server.token ?? undefined, process_id, WebSocket, ...rest });

const chunks = (events: ProcessEvent[]) => events.flatMap((event) => (event.event === 'output' ? [event.chunk] : []));

const ends = (events: ProcessEvent[]) => events.filter(({ event }) => event !== 'output');

async function events(attached: AsyncIterable<ProcessEvent[]>): Promise<ProcessEvent[]> {
  const told: ProcessEvent[] = [];
  for await (const batch of attached) told.push(...batch);
  return told;
}

async function drawn(): Promise<string> {
  const { process_id } = await gateway.start(['sh', '-c', DRAWS], { tty: SIZE });
  await gateway.fetch(`/processes/${process_id}/screen?after_seq=0&wait_ms=5000&quiet_ms=100`).then((reply) => reply.text());
  return process_id;
}

describe('attach with screen', () => {
  test('a late viewer sees what the first one sees, and goes on as it does', async () => {
    const process_id = await drawn();
    const first = await to(process_id);
    const late = await to(process_id, { screen: true });
    const seen = [viewer(SIZE), viewer(SIZE)] as const;
    const painted = (await late.next()).value as ProcessEvent[];
    expect(painted[0]).toMatchObject({ event: 'output', stream: 'pty' });
    await feed(seen[1], Buffer.concat(chunks(painted)));
    await late.write('gg');
    await Promise.all(
      [first, late].map(async (attached, i) => {
        for await (const batch of attached) for (const chunk of chunks(batch)) await feed(seen[i] as (typeof seen)[0], chunk);
      }),
    );
    expect(shownBy(seen[1])).toEqual(shownBy(seen[0]));
    expect(JSON.stringify(shownBy(seen[0]))).toContain('true');
  });

  test('a line that breaks anywhere before, in and behind the painting shows the same', async () => {
    let taken_up = 0;
    for (let cut = 300; cut <= 2_000; cut += 50) {
      const process_id = await drawn();
      await using proxy = await CuttingProxy.open(gateway.server.url, (count) => (count === 0 ? cut : null));
      const late = await to(process_id, { url: proxy.url, screen: true, retry: RETRY }).catch(() => null);
      if (late === null) continue; // cut before the first connection was one: whoever asked is told
      await late.write('gg');
      const seen = viewer(SIZE);
      for await (const batch of late) for (const chunk of chunks(batch)) await feed(seen, chunk);
      const whole = viewer(SIZE);
      for await (const batch of await to(process_id)) for (const chunk of chunks(batch)) await feed(whole, chunk);
      expect(shownBy(seen)).toEqual(shownBy(whole));
      taken_up += proxy.cuts;
    }
    expect(taken_up).toBeGreaterThan(3);
  });

  test('without a subprotocol the first message paints', async () => {
    const process_id = await drawn();
    const late = await AttachClient.open(gateway, `/processes/${process_id}/attach?screen=true`, false);
    await late.until(() => late.messages.length > 0);
    const seen = viewer(SIZE);
    await feed(seen, late.messages[0] as Buffer);
    expect(seen.buffer.active.getLine(2)?.translateToString(true)).toBe('    first');
    late.socket.send('gg');
    await late.untilEnd();
    for (const message of late.messages.slice(1)) await feed(seen, message as Buffer);
    expect(seen.buffer.active.getLine(2)?.translateToString(true)).toBe('    first plain blue');
  });

  test.each([
    ['that printed', ['sh', '-c', 'echo hi; exit 3'], 'hi\r\n', 3],
    ['that printed nothing', ['true'], '', 0],
    // A shell of jobs: its job has a group of its own and lives on, and prints what the shell's end leaves of its terminal.
    ['after which others printed', [process.execPath, '-e', OUTLIVED], 'hi\r\nstill\r\n', 3],
  ])('of a process that has ended, %s: its end is told as without', async (_name, argv, printed, exit_code) => {
    const { process_id } = await gateway.start(argv, { tty: SIZE });
    const whole = await events(await to(process_id));
    const late = await events(await to(process_id, { screen: true }));
    expect(Buffer.concat(chunks(whole)).toString()).toBe(printed);
    expect(ends(late)).toEqual(ends(whole));
    expect(ends(late)).toMatchObject([{ event: 'exited', exit_code }, { event: 'closed' }]);
    const seen = [viewer(SIZE), viewer(SIZE)] as const;
    await feed(seen[0], Buffer.concat(chunks(whole)));
    await feed(seen[1], Buffer.concat(chunks(late)));
    expect(shownBy(seen[1])).toEqual(shownBy(seen[0]));
    const client = await AttachClient.open(gateway, `/processes/${process_id}/attach?screen=true`);
    expect(await client.untilEnd()).toEqual({ code: 1000, reason: JSON.stringify({ exit_code, signal: null }) });
    expect(client.seqs()).toEqual([...client.seqs()].sort((a, b) => a - b));
    expect(client.all('hello')[0]?.after_seq).toBe(Number(client.bytes(false).readBigUInt64BE(0)));
    const raw = await AttachClient.open(gateway, `/processes/${process_id}/attach?screen=true`, false);
    expect(await raw.untilEnd()).toEqual({ code: 1000, reason: JSON.stringify({ exit_code, signal: null }) });
    expect(raw.messages).toHaveLength(1);
  });

  test('the end is told when the process ends while one looks on, and over a line that breaks', async () => {
    const { process_id } = await gateway.start(['sh', '-c', 'stty -echo; echo ready; read x'], { tty: SIZE });
    await gateway.fetch(`/processes/${process_id}/output?wait_ms=5000`).then((reply) => reply.text());
    const looking = await to(process_id, { screen: true });
    await looking.write('\n');
    expect(ends(await events(looking))).toMatchObject([{ event: 'exited' }, { event: 'closed' }]);
    for (let cut = 300; cut <= 1_500; cut += 50) {
      await using proxy = await CuttingProxy.open(gateway.server.url, (count) => (count === 0 ? cut : null));
      const late = await to(process_id, { url: proxy.url, screen: true, retry: RETRY }).catch(() => null);
      if (late) expect(ends(await events(late))).toMatchObject([{ event: 'exited' }, { event: 'closed' }]);
    }
  });

  test('is refused before the 101 where there is no terminal, and together with after_seq', async () => {
    const pipe = await gateway.start(['sleep', '60']);
    expect(await codeOf(to(pipe.process_id, { screen: true }))).toBe('not_a_tty');
    const { process_id } = await gateway.start(['sleep', '60'], { tty: true });
    expect(await codeOf(to(process_id, { screen: true, after_seq: 0 }))).toBe('invalid_request');
  });
});

describe('attach with a ticket', () => {
  const client = () => new Gateway({ url: gateway.server.url, token: gateway.server.token ?? undefined });
  const ticketed = (process_id: string, of: string, scope: 'read' | 'write') =>
    to(process_id, { token: undefined, ticket: async () => (await client().ticket(of, { scope })).ticket });

  test('of scope write one may write, of scope read look on', async () => {
    const { process_id } = await gateway.start(['head', '-n', '1'], { pipe_stdin: true });
    const looks = await ticketed(process_id, process_id, 'read');
    expect(await codeOf(looks.write('no\n'))).toBe('read_only');
    const writes = await ticketed(process_id, process_id, 'write');
    await writes.write('yes\n');
    for (const attached of [looks, writes]) {
      const events: ProcessEvent[] = [];
      for await (const batch of attached) events.push(...batch);
      expect(Buffer.concat(chunks(events)).toString()).toBe('yes\n');
    }
  });

  test('of another process is refused', async () => {
    const [one, other] = await Promise.all([gateway.start(['sleep', '60']), gateway.start(['sleep', '60'])]);
    expect(await codeOf(ticketed(one.process_id, other.process_id, 'write'))).toBe('ticket_for_another');
  });
});

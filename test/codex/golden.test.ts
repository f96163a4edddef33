import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CodexClient, type CodexMessage } from '../support/codex-client.js';
import { useCodex } from './use-codex.js';

interface Recorded {
  group: string;
  dir: 'c2s' | 's2c';
  msg: CodexMessage & { unparsable?: string };
}

const recorded = readFileSync(new URL('../fixtures/codex-golden.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Recorded);

/** The groups that one connection can replay; those of a resumed session are the last test. */
const GROUPS = [...new Set(recorded.map(({ group }) => group))].filter((group) => !group.startsWith('resume'));

/** What is not offered, and not claimed in the capabilities. */
const NOT_OFFERED = ['environmentConfig/read', 'capabilityRoots/discoverV1'];

const gateway = useCodex().gateway;
const authorization = () => ({ authorization: `Bearer ${gateway.server.token}` });
let scratch = '';

beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'codex-golden-'));
});
afterEach(() => rmSync(scratch, { recursive: true, force: true }));

/** Recorded paths begin with /w. */
const here = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll('file:///w', `file://${scratch}`)) as T;
const there = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll(`file://${scratch}`, 'file:///w')) as T;

/** The state of the disk that the recorder had made by hand. */
function prepare(group: string, msg: CodexMessage): void {
  if (group === 'fs' && msg.method === 'fs/getMetadata' && msg.id === 10) {
    symlinkSync('a.txt', join(scratch, 'd/l'));
    utimesSync(join(scratch, 'd/a.txt'), 1_700_000_000, 1_700_000_000);
  }
}

/** Where one chunk ends and the next begins is free: output is told per stream, joined. */
function joined(chunks: { stream: string; chunk: string }[]): Record<string, string> {
  const text: Record<string, string> = {};
  for (const { stream, chunk } of chunks) text[stream] = (text[stream] ?? '') + Buffer.from(chunk, 'base64').toString('latin1');
  return text;
}

/** An answer without what differs from server to server: words of messages, ids, times, where chunks end, what is claimed. */
// biome-ignore lint/suspicious/noExplicitAny: any message
function comparable({ result, error }: CodexMessage, method: string): any {
  if (error) return { code: error.code, data: error.data };
  if (method === 'process/read') {
    const { chunks, nextSeq, ...rest } = result;
    expect(nextSeq).toBeGreaterThan(chunks.at(-1)?.seq ?? 0);
    return { ...rest, chunks: joined(chunks) };
  }
  if (method === 'fs/readDirectory')
    return result.entries.toSorted((a: { fileName: string }, b: { fileName: string }) => (a.fileName < b.fileName ? -1 : 1));
  if (method === 'fs/getMetadata') return { ...result, createdAtMs: 0 };
  if (method === 'initialize' || method === 'environment/info') return shapeOf(result);
  return result;
}

/** Names and kinds of values; texts about one machine stand for themselves. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return 'list';
  if (typeof value !== 'object' || value === null) return typeof value;
  const { providerId: _optional, ...members } = value as Record<string, unknown>;
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, shapeOf(member)]));
}

/** What was pushed about each process: its output, and how it ended. */
function told(messages: CodexMessage[]): Record<string, unknown> {
  const by: Record<string, CodexMessage[]> = {};
  for (const message of messages) {
    if (!message.method?.startsWith('process/')) continue;
    by[message.params.processId] = [...(by[message.params.processId] ?? []), message];
  }
  return Object.fromEntries(
    Object.entries(by).map(([processId, pushes]) => {
      const output = pushes.filter(({ method }) => method === 'process/output').map(({ params }) => params);
      const exits = pushes.filter(({ method }) => method === 'process/exited').map(({ params: { seq: _seq, ...rest } }) => rest);
      const last = pushes.at(-1)?.method;
      return [processId, { output: joined(output), exits, last }];
    }),
  );
}

/** Sends a recorded message; the next waits for its answer, as it did when it was recorded. */
async function send(client: CodexClient, group: string, msg: Recorded['msg']): Promise<void> {
  prepare(group, msg);
  client.socket.send(msg.unparsable ?? JSON.stringify(here(msg)));
  if (msg.unparsable !== undefined) await client.answer(-1);
  else if (msg.id !== undefined) await client.answer(msg.id);
  if (msg.method === 'fs/watchMissing') writeFileSync(join(scratch, 'soon'), '');
}

/** Waits for what was recorded to be pushed. */
async function arrived(client: CodexClient, { method, params }: CodexMessage): Promise<void> {
  if (method === 'process/output') {
    await client.printed(params.processId, Buffer.from(params.chunk, 'base64').toString('latin1').split('\n')[0] as string);
  } else if (method !== undefined) {
    await client.find(method, (message) => message.method === method && message.params.processId === params.processId);
  }
}

async function expectSame(client: CodexClient, msg: CodexMessage, method: string): Promise<void> {
  const answer = there(await client.answer(msg.id as number));
  if (NOT_OFFERED.includes(method)) expect(answer.error?.code).toBe(-32601);
  else expect(comparable(answer, method), `${method} (${msg.id})`).toEqual(comparable(msg, method));
}

describe('what the real server was recorded to answer is answered here', () => {
  test.each(GROUPS)('%s', async (group) => {
    if (group === 'fs-blocks' || group === 'config-and-watch') {
      mkdirSync(join(scratch, 'd'));
      writeFileSync(join(scratch, 'd/a.txt'), 'hello');
    }
    const lines = recorded.filter((line) => line.group === group);
    await using client = await CodexClient.open(gateway.server.url, authorization());
    for (const { dir, msg } of lines) await (dir === 'c2s' ? send(client, group, msg) : arrived(client, msg));
    const methods = new Map(lines.filter(({ dir }) => dir === 'c2s').map(({ msg }) => [msg.id ?? -1, msg.method ?? '']));
    for (const { dir, msg } of lines) {
      if (dir === 's2c' && msg.id !== undefined) await expectSame(client, msg, methods.get(msg.id) ?? '');
    }
    expect(told(client.messages)).toEqual(told(lines.filter(({ dir }) => dir === 's2c').map(({ msg }) => msg)));
    for (const processId of Object.keys(told(client.messages))) {
      const seqs = client.pushes(processId).map(({ params }) => params.seq);
      expect(seqs).toEqual(seqs.map((_, i) => i + 1));
    }
  });

  test('a session that was cut off and is resumed', async () => {
    const lines = recorded.filter(({ group }) => group.startsWith('resume'));
    const sent = (group: string, method: string) =>
      here(lines.find((line) => line.group === group && line.dir === 'c2s' && line.msg.method === method) as Recorded).msg;
    const answered = (group: string, id: number) =>
      lines.find((line) => line.group === group && line.dir === 's2c' && line.msg.id === id)?.msg as CodexMessage;

    const first = await CodexClient.ready(gateway.server.url, authorization());
    expect(await first.result('process/start', sent('resume', 'process/start').params)).toEqual(answered('resume', 2).result);
    await first.printed('p1', '2\n');

    await using busy = await CodexClient.open(gateway.server.url, authorization());
    expect(await busy.code('initialize', { clientName: 'demo', resumeSessionId: first.sessionId })).toBe(
      answered('resume-busy', 1).error?.code,
    );
    expect(await busy.code('initialize', { clientName: 'demo', resumeSessionId: 'no-such' })).toBe(answered('resume-busy', 2).error?.code);
    first.cut();

    // What is printed meanwhile can be seen by anyone, and is read by the client that comes back.
    const label = encodeURIComponent(`codex_session=${first.sessionId}`);
    const list = (await (await gateway.fetch(`/processes?label=${label}`)).json()) as { processes: { process_id: string }[] };
    for (let next_seq = 1; next_seq <= 5; ) {
      const reply = await gateway.fetch(`/processes/${list.processes[0]?.process_id}/output?after_seq=${next_seq - 1}&wait_ms=10000`);
      next_seq = ((await reply.json()) as { next_seq: number }).next_seq;
    }
    let second: CodexClient | null = null;
    while (!second) second = await CodexClient.ready(gateway.server.url, authorization(), first.sessionId).catch(() => null);
    await using back = second;
    const read = await back.result('process/read', sent('resume-second', 'process/read').params);
    const { chunks, ...flags } = read;
    const { chunks: recorded_chunks, ...recorded_flags } = answered('resume-second', 2).result;
    expect(Object.keys(flags)).toEqual(Object.keys(recorded_flags));
    expect(chunks.slice(0, 3)).toEqual(recorded_chunks);
    await back.find('the end', ({ method }) => method === 'process/closed');
    const seen = new Map<number, string>();
    for (const { seq, chunk } of chunks) seen.set(seq, chunk);
    for (const { params } of back.pushes('p1')) seen.set(params.seq, params.chunk ?? '');
    expect([...seen.keys()].sort((a, b) => a - b)).toEqual([3, 4, 5, 6, 7, 8]);
  });
});

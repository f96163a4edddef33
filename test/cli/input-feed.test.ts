import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { InputFeed } from '../../src/cli/input-feed.js';
import { retrySettings } from '../../src/client/retry.js';
import type { Child } from '../../src/process/child.js';
import { StdinQueue } from '../../src/process/stdin-queue.js';
import { type ExecProcess, GatewayError, type WriteOptions } from '../../src/protocol/index.js';

/** What becomes of a write: it arrives, late too, or it or its answer is lost. */
type Fate = 'arrives' | 'late' | 'lost' | 'answer lost';

const MANY_TURNS = 50;

/** A process that takes its input, behind a connection that does with the writes what it is told. */
class Taker {
  readonly taken: Buffer[] = [];
  readonly fates: Fate[];
  readonly processes: ExecProcess;
  eofs = 0;
  writes = 0;
  under_way = 0;
  most_under_way = 0;

  constructor(fates: Fate[]) {
    this.fates = [...fates];
    const write: Child['write'] = (bytes, done) => {
      this.taken.push(Buffer.from(bytes));
      setImmediate(() => done(null));
    };
    const child = { pid: 1, write, endInput: () => void this.eofs++, pause() {}, resume() {}, resize() {}, destroy() {} };
    const queue = new StdinQueue(child, true);
    this.processes = {
      write: (_id: string, bytes: Uint8Array, options: WriteOptions) => this.#write(queue, bytes, options),
    } as ExecProcess;
  }

  async #write(queue: StdinQueue, bytes: Uint8Array, options: WriteOptions): Promise<{ accepted_bytes: number }> {
    this.writes += 1;
    this.most_under_way = Math.max(this.most_under_way, ++this.under_way);
    try {
      const fate = this.fates.shift();
      await turn();
      if (fate === 'late') for (let i = 0; i < MANY_TURNS; i++) await turn();
      if (fate === 'lost') throw new GatewayError('upstream_unreachable', 'lost');
      const accepted_bytes = await queue.write(bytes, options);
      if (fate === 'answer lost') throw new GatewayError('upstream_unreachable', 'lost');
      return { accepted_bytes };
    } finally {
      this.under_way -= 1;
    }
  }
}

async function feed(taker: Taker, input: Buffer, shared: boolean): Promise<void> {
  const source = new PassThrough();
  const retry = retrySettings({ first_delay_ms: 1, max_delay_ms: 1 });
  const fed = new InputFeed(source, { processes: taker.processes, process_id: 'p', accepted_bytes: 0, shared, retry });
  source.on('data', (bytes: Buffer) => fed.push(bytes)).once('end', () => fed.end());
  const over = fed.run(new AbortController().signal);
  source.end(input);
  await over;
}

const numbered = (length: number) => Buffer.from(new Uint32Array(length / 4).map((_, i) => i).buffer);

it('all of it arrives once and in its order, whatever becomes of the writes', async () => {
  const fate = fc.constantFrom<Fate>('arrives', 'late', 'lost', 'answer lost');
  const length = fc.constantFrom(0, 4, 4_194_304, 4_194_308, 9_000_000);
  await fc.assert(
    fc.asyncProperty(fc.array(fate, { maxLength: 10 }), length, fc.boolean(), async (fates, size, shared) => {
      const taker = new Taker(fates);
      const input = numbered(size);
      await feed(taker, input, shared);
      expect(Buffer.concat(taker.taken).equals(input)).toBe(true);
      expect(taker.eofs).toBe(1);
    }),
    { numRuns: 15 },
  );
});

it('whole blocks go two at a time, and one that overtook the other goes again', async () => {
  const taker = new Taker(['late']);
  const input = numbered(12_000_000);
  await feed(taker, input, false);
  expect(Buffer.concat(taker.taken).equals(input)).toBe(true);
  expect(taker.most_under_way).toBe(2);
  expect(taker.writes).toBe(4); // three blocks, and one of them again
});

it('what others may write between goes one by one', async () => {
  const taker = new Taker([]);
  await feed(taker, numbered(12_000_000), true);
  expect(taker.most_under_way).toBe(1);
});

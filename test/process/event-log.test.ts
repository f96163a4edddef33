import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EventLog } from '../../src/process/event-log.js';
import type { ProcessEvent, Stream } from '../../src/protocol/index.js';
import { EventLogModel, type Told, toldEvent } from './event-log-model.js';

const stream = fc.constantFrom<Stream>('stdout', 'stderr', 'pty');
const chunk = fc.uint8Array({ minLength: 1, maxLength: 12 });
const chunks = fc.array(fc.tuple(stream, chunk), { maxLength: 40 });
/** Output before the exit, output after it, how far it got, and what is kept. */
const life = fc.record({ before: chunks, after: chunks, ends: fc.constantFrom(0, 1, 2), retain_bytes: fc.integer({ min: 1, max: 120 }) });
type Life = typeof life extends fc.Arbitrary<infer T> ? T : never;

function live({ before, after, ends, retain_bytes }: Life): { log: EventLog; model: EventLogModel } {
  const log = new EventLog(retain_bytes);
  const model = new EventLogModel(retain_bytes);
  const print = (list: Life['before']) => {
    for (const [from, bytes] of list) {
      log.append(from, Uint8Array.from(bytes));
      model.append(from, bytes);
    }
  };
  print(before);
  if (ends > 0) {
    log.appendExited({ exit_code: 0, signal: null });
    model.end('exited');
    print(after);
  }
  if (ends > 1) {
    log.appendClosed();
    model.end('closed');
  }
  return { log, model };
}

/** All that a follower gets that takes batches of at most `max_bytes`. */
function followed(log: EventLog, after_seq: number, max_bytes: number): Told[] {
  const told: Told[] = [];
  let place = after_seq;
  for (let batch = log.batch(place, max_bytes); batch.length > 0; batch = log.batch(place, max_bytes)) {
    told.push(...batch.map(toldEvent));
    place = lastSeq(batch.at(-1) as ProcessEvent);
  }
  return told;
}

function lastSeq(event: ProcessEvent): number {
  return event.event === 'gap' ? event.to_seq : event.seq;
}

describe('the event log equals a naive list', () => {
  test('in its counts', () => {
    fc.assert(
      fc.property(life, (events) => {
        const { log, model } = live(events);
        expect([log.next_seq, log.first_seq, log.total_bytes, log.retained_bytes]).toEqual([
          model.next_seq,
          model.first_seq,
          model.total_bytes,
          model.held_bytes,
        ]);
      }),
    );
  });

  test('for a read after every event, of every size and stream', () => {
    fc.assert(
      fc.property(life, fc.nat({ max: 200 }), fc.option(stream, { nil: undefined }), (events, max_bytes, only) => {
        const { log, model } = live(events);
        for (let after_seq = 0; after_seq < log.next_seq; after_seq++) {
          const { chunks: read, last_seq, gap } = log.read(after_seq, max_bytes, only);
          expect({ chunks: read.map(toldEvent), last_seq, gap }).toEqual(model.read(after_seq, max_bytes, only));
        }
      }),
    );
  });

  test('for a follower after every event, whatever fits into a batch', () => {
    fc.assert(
      fc.property(life, fc.nat({ max: 200 }), (events, max_bytes) => {
        const { log, model } = live(events);
        for (let after_seq = 0; after_seq < log.next_seq; after_seq++) {
          expect(followed(log, after_seq, max_bytes)).toEqual(model.follow(after_seq));
        }
      }),
    );
  });

  test('for the bytes before every event', () => {
    fc.assert(
      fc.property(life, (events) => {
        const { log, model } = live(events);
        for (let after_seq = 0; after_seq < log.next_seq; after_seq++) expect(log.bytesBefore(after_seq)).toBe(model.bytes(1, after_seq));
      }),
    );
  });
});

describe('the event log', () => {
  test('tells every number once, as an event or inside a gap, also to a reader that is overtaken', () => {
    const steps = fc.array(fc.oneof(fc.record({ print: chunk }), fc.record({ take: fc.nat({ max: 60 }) })), { maxLength: 80 });
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 60 }), fc.nat({ max: 80 }), (list, retain_bytes, exit_at) => {
        const log = new EventLog(retain_bytes);
        let place = 0;
        const take = (max_bytes: number) => {
          for (const event of log.batch(place, max_bytes)) {
            expect(event.event === 'gap' ? event.from_seq : event.seq).toBe(place + 1);
            place = lastSeq(event);
          }
        };
        list.forEach((step, at) => {
          if (at === exit_at) log.appendExited({ exit_code: 1, signal: null });
          if ('print' in step) log.append('stdout', Uint8Array.from(step.print));
          else take(step.take);
        });
        log.appendClosed();
        while (place < log.next_seq - 1) take(10);
      }),
    );
  });

  test('an exit inside the evicted range is told between two gaps', () => {
    const log = new EventLog(4);
    for (const text of ['ab', 'cd', 'ef']) log.append('stdout', Buffer.from(text));
    log.appendExited({ exit_code: 137, signal: 'SIGKILL' });
    for (const text of ['gh', 'ijkl']) log.append('stderr', Buffer.from(text));
    expect(log.batch(0, 1000).map(toldEvent)).toEqual(['1..3 gap of 6', '4 exited', '5..5 gap of 2', '6 stderr 696a6b6c']);
    expect(log.batch(0, 1000)[1]).toEqual({ event: 'exited', seq: 4, exit_code: 137, signal: 'SIGKILL' });
    expect(log.read(0, 1000)).toMatchObject({ gap: { from_seq: 1, to_seq: 5, bytes: 8 }, last_seq: 6 });
    expect(log.first_seq).toBe(4);
  });

  test('the newest chunk is kept however large it is', () => {
    const log = new EventLog(1);
    log.append('pty', new Uint8Array(5));
    log.append('pty', new Uint8Array(70_000));
    expect(log.read(0, 0)).toMatchObject({ gap: { from_seq: 1, to_seq: 1, bytes: 5 }, chunks: [{ seq: 2 }] });
  });

  test('a gap whose start is forgotten has null bytes, never a guess', () => {
    const log = new EventLog(1);
    const events = 200_000;
    for (let i = 0; i < events; i++) log.append('stdout', Uint8Array.of(1));
    const old = log.read(1, 0).gap;
    expect(old).toEqual({ from_seq: 2, to_seq: events - 1, bytes: null, reason: 'evicted' });
    const young = log.read(events - 65_000, 0).gap;
    expect(young).toEqual({ from_seq: events - 65_000 + 1, to_seq: events - 1, bytes: 65_000 - 1, reason: 'evicted' });
    expect(log.read(0, 0).gap?.bytes).toBe(events - 1);
  });

  test('readers at the same place share one batch', () => {
    const log = new EventLog(100);
    log.append('stdout', Uint8Array.of(1));
    expect(log.batch(0, 100)).toBe(log.batch(0, 100));
    const before = log.batch(0, 100);
    log.append('stdout', Uint8Array.of(2));
    expect(log.batch(0, 100)).not.toBe(before);
    expect(log.batch(0, 100)).toHaveLength(2);
  });

  test('a batch does not outlive what is evicted when nothing is held any more', () => {
    const log = new EventLog(2);
    log.keepAfter(0);
    for (let i = 0; i < 4; i++) log.append('stdout', Uint8Array.of(i, i));
    expect(log.batch(0, 100)).toHaveLength(4);
    log.keepAfter(Number.POSITIVE_INFINITY);
    expect(log.batch(0, 100).map(toldEvent)).toEqual(['1..3 gap of 6', '4 stdout 0303']);
    expect(log.batch(0, 100)[0]).toEqual({ event: 'gap', ...log.read(0, 0).gap });
  });

  test('everyone who waits is woken once by all that happens in one turn', async () => {
    const log = new EventLog(100);
    let woken = 0;
    const turn = new Promise<void>((resolve) => {
      log.waiters.add({ wake: () => woken++ });
      log.waiters.add({ wake: resolve });
    });
    log.append('stdout', Uint8Array.of(1));
    log.append('stdout', Uint8Array.of(2));
    log.appendExited({ exit_code: 0, signal: null });
    expect(woken).toBe(0);
    await turn;
    expect([woken, log.waiters.size]).toEqual([1, 0]);
  });
});

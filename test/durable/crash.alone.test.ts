import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { markedProcesses, until } from '../support/proc.js';
import { useHostedGateway } from './hosted-gateway.js';
import { News } from './news.js';
import { expectLost, expectWhole, FED_NOTHING, feed, PRINTER, type Printing } from './printer.js';
import { type Kind, READERS } from './readers.js';
import { seeded } from './seeded.js';

const PROCESSES = 50;
const KILLS = 20;
/** So many of them are read by the command line too, each time by a program of its own; all by two others. */
const BY_COMMAND_LINE = 4;
const ALL_READERS = 2 * PROCESSES + BY_COMMAND_LINE;
const KINDS = ['poll', 'sse', 'attached'] as const;
/** A slow machine may take this long, in milliseconds. */
const ALLOWED_MS = 600_000;
/** Decides when the gateway is killed; give the one of a run that failed. */
const seed = Number(process.env.CRASH_SEED ?? Date.now() % 1_000_000);
const gateway = useHostedGateway();

test(
  'C1 a gateway that is killed 20 times: every reader of 50 processes has every byte once, each byte of input arrives once, each exit is told',
  async ({ onTestFailed }) => {
    onTestFailed(() => void process.stderr.write(`CRASH_SEED=${seed}\n`));
    const random = seeded(seed);
    const news = new News();
    const end_file = join(gateway().dir, 'end');
    let ending = false;
    const one = async (i: number): Promise<Printing> => {
      const printing = { process_id: `printer-${i}`, tty: i % 2 === 1, exit_code: i + 1 };
      const { process_id, tty, exit_code } = printing;
      const is_fed = i % 4 >= 2;
      const argv = ['python3', PRINTER, String(60 + 3 * i), String(exit_code), ...(is_fed ? [] : [end_file])];
      await gateway().processes().start({ process_id, argv, tty, pipe_stdin: is_fed });
      const kinds: Kind[] = ['poll', i % 8 < 4 ? 'sse' : 'attached'];
      if (i < BY_COMMAND_LINE) kinds.push('logs');
      const reading = kinds.map((kind) => READERS[kind](gateway(), process_id, (text) => text && news.tell(`${kind} ${process_id}`)));
      const more = () => news.of(`poll ${process_id}`);
      const [fed, ...found] = await Promise.all([is_fed ? feed(gateway(), process_id, more, () => ending) : FED_NOTHING, ...reading]);
      for (const [k, what] of found.entries()) expectWhole(`${kinds[k]} of ${process_id}`, what, printing, fed);
      return printing;
    };
    const all = Promise.all(Array.from({ length: PROCESSES }, (_, i) => one(i)));
    await Promise.race([all, news.after(ALL_READERS, 1)]);
    const host = await gateway().hostPid();
    for (let kill = 1; kill <= KILLS; kill++) {
      ending = kill === KILLS;
      if (ending) writeFileSync(end_file, '');
      // Soon after its start, when one or the other reader is back, or when all are and some more was printed.
      const moment = ending ? news.after(1, random(PROCESSES)) : news.after(random(ALL_READERS), random(ALL_READERS));
      await Promise.race([all, moment]);
      await gateway().crash();
    }
    const expected = (await all).map(({ process_id, exit_code }) => [process_id, 'closed', 'exited', exit_code]);
    const { processes } = await gateway().processes().list({ limit: 100 });
    const found = processes.map(({ process_id, state, reason, exit_code }) => [process_id, state, reason, exit_code]);
    expect(found.sort()).toEqual(expected.sort());
    expect(await gateway().hostPid()).toBe(host);
  },
  ALLOWED_MS,
);

/** One in a session of its own, and one twice removed from who started it; they heed nothing but SIGKILL. */
const LEAVES_TWO = "trap '' HUP TERM PIPE; setsid sleep 1000 & (setsid sh -c 'sleep 1000; sleep 1000' &)";

test(
  'C2 a host that is killed while processes print: all are lost, what was told a second before is there, nothing is left running',
  async () => {
    const mark = `CRASH_TEST=${gateway().dir}`;
    /** How much was told of each, and when. */
    const told = new Map<string, { at: number; length: number }[]>();
    const one = async (i: number) => {
      const printing = { process_id: `lost-${i}`, tty: i % 2 === 1, exit_code: 137 };
      const { process_id, tty } = printing;
      const argv = ['sh', '-c', `${LEAVES_TWO}; python3 ${PRINTER} 40 0 ${gateway().dir}/never`];
      await gateway()
        .processes()
        .start({ process_id, tty, argv, env: { CRASH_TEST: gateway().dir } });
      const moments = [{ at: performance.now(), length: 0 }];
      told.set(process_id, moments);
      const kind = KINDS[i % 3] as Kind;
      const found = await READERS[kind](gateway(), process_id, (text) => {
        moments.push({ at: performance.now(), length: (moments.at(-1)?.length ?? 0) + text.length });
      });
      expectLost(`${kind} of ${process_id}`, found, printing);
      return printing;
    };
    const all = Promise.all(Array.from({ length: 12 }, (_, i) => one(i)));
    const earlier = (at: number) => [...told.values()].map((moments) => moments.findLast((moment) => moment.at < at - 1_000)?.length ?? 0);
    await Promise.race([
      all,
      until('each was told for a second', () => told.size === 12 && Math.min(...earlier(performance.now())) > 0, ALLOWED_MS),
    ]);
    expect(markedProcesses(mark).length).toBeGreaterThan(12 * 3);
    const kept = earlier(performance.now());
    await gateway().crashWithHost();
    for (const printing of await all) {
      const { process_id } = printing;
      const late = await READERS.poll(gateway(), process_id, () => {});
      expectLost(process_id, late, printing);
      expect(late.text.length, process_id).toBeGreaterThanOrEqual(kept[[...told.keys()].indexOf(process_id)] as number);
      const { state, reason, total_bytes } = await gateway().processes().get(process_id);
      expect({ state, reason, total_bytes }).toEqual({ state: 'closed', reason: 'lost', total_bytes: late.text.length });
    }
    await until('none of their programs is left', () => markedProcesses(mark).length === 0, ALLOWED_MS);
  },
  ALLOWED_MS,
);

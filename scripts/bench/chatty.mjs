// `npm run bench:chatty`: how late the event loop comes round while many processes print little by little, each followed twice.
import { setTimeout } from 'node:timers/promises';
import { Target } from './target.mjs';

const PROCESSES = 200;
const FOLLOWERS = 2;
/** Lines a second of each process. */
const RATE = 10;
const SECONDS = 30;

/** A shell waits without starting anything by reading what never comes. */
const ARGV = ['bash', '-c', `while echo "a line of what a chatty program says while it works"; do read -rt ${1 / RATE}; done`];

await Target.use('gateway', ['--log-level', 'warn'], async (target) => {
  let chunks = 0;
  const ids = await Promise.all(Array.from({ length: PROCESSES }, () => target.start(ARGV, { pipe_stdin: true })));
  for (const id of ids) for (let i = 0; i < FOLLOWERS; i++) await target.follow(id, () => chunks++);
  await target.metrics(); // it is looked at from the first time it is asked for
  const before = { chunks, cpu: target.cpu };
  await setTimeout(SECONDS * 1000);
  const text = await target.metrics();
  const ms = (of) => (Number(text.match(new RegExp(`^exec_gateway_event_loop_delay_${of}_seconds (\\S+)`, 'm'))[1]) * 1000).toFixed(1);
  console.log(`${PROCESSES} processes of ${RATE} lines a second, ${PROCESSES * FOLLOWERS} followers, ${SECONDS} s:`);
  console.log(
    `${((chunks - before.chunks) / SECONDS).toFixed(0)} chunks a second came, ${((target.cpu - before.cpu) / SECONDS / 10).toFixed(0)} % of a core`,
  );
  console.log(`the event loop came round late by ${ms('p50')} ms (median), ${ms('p99')} (p99), ${ms('max')} (most)`);
});

// `npm run bench:growth`: whether what one thing costs grows with what there is already: output of a process, and processes.
import { fanOut, median, startToEnd, times, took } from './scenarios.mjs';
import { Target } from './target.mjs';

const MIB = 2 ** 20;
const TOTAL_MIB = 1024;
/** Parts of the output of one process, in MiB: their costs are to be the same. */
const PARTS = [
  [1, 65],
  [128, 192],
  [512, 576],
  [960, 1024],
];
const PROCESSES = [1, 1000, 5000];

await Target.use('gateway', ['--retain-bytes', String(256 * MIB)], async (target) => {
  const id = await output(target);
  await pages(target, id);
});
await Target.use('gateway', ['--max-processes', '6000', '--log-level', 'error'], manyProcesses);

async function output(target) {
  const argv = ['sh', '-c', `read go; exec dd if=/dev/zero bs=4096 count=${(TOTAL_MIB * MIB) / 4096} status=none`];
  const id = await target.start(argv, { pipe_stdin: true });
  const edges = PARTS.flat();
  const marks = [];
  let got = 0;
  const { ended } = await target.follow(id, (part) => {
    got += part.length;
    while (got >= edges[marks.length] * MIB) marks.push({ at: performance.now(), cpu: target.cpu });
  });
  await target.write(id, '\n');
  await ended;
  for (const [i, [from, to]] of PARTS.entries()) {
    const [begin, end] = marks.slice(2 * i);
    const each = (what) => ((end[what] - begin[what]) / (to - from)).toFixed(2);
    console.log(`output of one process from ${from} to ${to} MiB: ${each('at')} ms a MiB, of the processor ${each('cpu')}`);
  }
  return id;
}

/** Pages of 64 KiB at the beginning, in the middle and at the end of the 256 MiB that are held. */
async function pages(target, id) {
  const first = (await target.read(id, 0)).gap.to_seq;
  const last = (await target.read(id, first, 'stderr')).next_seq - 1;
  for (const part of [0, 0.5, 0.99]) {
    const after_seq = Math.floor(first + (last - first) * part);
    const ms = median(await times(50, () => took(() => target.read(id, after_seq))));
    console.log(`a page of 64 KiB after event ${after_seq} of ${last}: ${ms.toFixed(2)} ms`);
  }
}

async function manyProcesses(target) {
  let there = 0;
  for (const count of PROCESSES) {
    for (; there < count; there++) await target.start(['sleep', '3600']);
    const before = target.cpu;
    const echo = await fanOut(target, 1, 500);
    const cpu = (target.cpu - before) / 500;
    const start = await startToEnd(target);
    console.log(
      `beside ${count} processes: an echo ${echo.toFixed(2)} ms, of the processor ${cpu.toFixed(2)}; a start ${start.toFixed(2)} ms`,
    );
  }
}

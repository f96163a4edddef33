import { setTimeout as pause } from 'node:timers/promises';

const MIB = 2 ** 20;
const MESSAGE = Buffer.alloc(16, 'x');

/** One start of a program after another until its end is known: median, in ms. */
export async function startToEnd(target) {
  await times(20, () => target.run(['/bin/true']));
  return median(await times(150, () => took(() => target.run(['/bin/true']))));
}

/** The same with 16 under way: ms each. */
async function sixteenAtATime(target) {
  await lanes(16, 4, () => target.run(['/bin/true']));
  return (await took(() => lanes(16, 30, () => target.run(['/bin/true'])))) / (16 * 30);
}

/** 200 MiB over a pipe to one who follows: ms per MiB. */
async function output(target) {
  const bytes = 200 * MIB;
  const id = await target.start(['sh', '-c', `read go; head -c ${bytes} /dev/zero`], { pipe_stdin: true });
  let got = 0;
  const { ended } = await target.follow(id, (part) => {
    got += part.length;
  });
  const ms = await took(async () => {
    await target.write(id, '\n');
    await ended;
  });
  if (got !== bytes) throw new Error(`${got} bytes of ${bytes} came.`);
  return ms / 200;
}

/** 16 bytes to `cat`, by a call each, until they come back to one who follows: median, in ms. */
const echo = (target) => fanOut(target, 1, 1000);

/** The same until they have come to the last of 10, 100, 1000 who follow: median, in ms. */
const echoTo10 = (target) => fanOut(target, 10, 300);
const echoTo100 = (target) => fanOut(target, 100, 200);
const echoTo1000 = (target) => fanOut(target, 1000, 30);

/** Memory for each of 100 sleeping processes with one who follows it: KiB. */
async function sleeping(target) {
  await target.run(['/bin/true']);
  const before = target.memory;
  const ids = await times(100, () => target.start(['sleep', '600']));
  for (const id of ids) await target.follow(id, () => {});
  const each = (target.memory - before) / 1024 / ids.length;
  for (const id of ids) await target.end(id);
  return each;
}

/** Memory for each of 10,000 callers that wait for output, beyond what 500 had taken before: KiB. */
async function waiting(target) {
  const id = await target.start(['cat'], { pipe_stdin: true });
  const first = await target.poll(await target.connections(500), id, 0);
  await target.write(id, MESSAGE);
  await first.answered;
  const before = target.memory;
  const sockets = await target.connections(10_000);
  await target.poll(sockets, id, 1);
  return (target.memory - before) / 1024 / sockets.length;
}

/** 16 bytes until they have come to the last of 1000 callers that waited for them: median, in ms. */
async function answered(target) {
  const id = await target.start(['cat'], { pipe_stdin: true });
  const sockets = await target.connections(1000);
  let after_seq = 0;
  const ms = await times(30, async () => {
    const { answered: all } = await target.poll(sockets, id, after_seq++);
    return took(() => Promise.all([target.write(id, MESSAGE), all]));
  });
  return median(ms);
}

export const SCENARIOS = { startToEnd, sixteenAtATime, output, echo, echoTo10, echoTo100, echoTo1000, sleeping, waiting, answered };

export async function fanOut(target, followers, count, options = { pipe_stdin: true }) {
  const id = await target.start(['cat'], options);
  let missing = 0;
  let done = () => {};
  for (let i = 0; i < followers; i++) {
    await target.follow(id, (part) => {
      missing -= part.length;
      if (missing === 0) done();
    });
  }
  const once = async () => {
    missing = followers * MESSAGE.length;
    const all = new Promise((resolve) => {
      done = resolve;
    });
    await Promise.all([target.write(id, MESSAGE), all]);
  };
  const ms = await times(count, async () => {
    const each = await took(once);
    await pause(1); // as people type: the server has nothing to do in between
    return each;
  });
  await target.end(id);
  return median(ms);
}

export async function took(call) {
  const begun = performance.now();
  await call();
  return performance.now() - begun;
}

export async function times(count, call) {
  const results = [];
  for (let i = 0; i < count; i++) results.push(await call());
  return results;
}

function lanes(count, each, call) {
  return Promise.all(Array.from({ length: count }, () => times(each, call)));
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)];
}

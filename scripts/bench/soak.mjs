// `npm run bench:soak [MINUTES]`, by default 20: a gateway at all kinds of work, with what it holds each minute. Fails when it grew.
import { fanOut, median } from './scenarios.mjs';
import { Target } from './target.mjs';

const MIB = 2 ** 20;
const MINUTE_MS = 60_000;
/** Memory may swing by so much, as a part of itself. */
const SWING = 0.15;

const minutes = Number(process.argv[2] ?? 20);
const target = await Target.open('gateway', ['--log-level', 'error', '--max-processes', '1000']);
const began = performance.now();
const end = began + minutes * MINUTE_MS;
const done = { starts: 0, echoes: 0, bytes: 0, polls: 0 };
const held = [];

const timer = setInterval(tell, MINUTE_MS);
await Promise.all([starts(), starts(), echoes(), echoes(), output(), polls()]);
clearInterval(timer);
tell();
await target.close();

const third = Math.max(1, Math.floor(held.length / 3));
const grown = median(held.slice(-third)) / median(held.slice(third, 2 * third)) - 1;
console.log(`memory of the last third of the time against that of the second: ${(grown * 100).toFixed(1)} %`);
process.exitCode = grown > SWING ? 1 : 0;

function tell() {
  held.push(target.memory);
  const minute = Math.round((performance.now() - began) / MINUTE_MS);
  const { starts: started, echoes: echoed, bytes, polls: polled } = done;
  const work = `${started} starts, ${echoed} echoes, ${(bytes / 1e9).toFixed(1)} GB followed, ${polled} long-polls`;
  console.log(`minute ${minute}: ${(target.memory / MIB).toFixed(0)} MiB, ${target.descriptors} descriptors; ${work}`);
}

async function starts() {
  while (performance.now() < end) {
    await target.run(['sh', '-c', 'echo out; echo err >&2']);
    done.starts += 1;
  }
}

/** A terminal with two who follow it, a hundred keystrokes, then another. */
async function echoes() {
  while (performance.now() < end) {
    await fanOut(target, 2, 100, { tty: true });
    done.echoes += 100;
  }
}

/** 20 MB of output, one process after another. */
async function output() {
  while (performance.now() < end) {
    const id = await target.start(['head', '-c', '20000000', '/dev/zero']);
    const { ended } = await target.follow(id, (part) => {
      done.bytes += part.length;
    });
    await ended;
  }
}

/** Fifty callers that wait for the same line, a hundred times. */
async function polls() {
  const sockets = await target.connections(50);
  while (performance.now() < end) {
    const id = await target.start(['cat'], { pipe_stdin: true });
    for (let after_seq = 0; after_seq < 100; after_seq++) {
      const { answered } = await target.poll(sockets, id, after_seq);
      await Promise.all([target.write(id, 'line\n'), answered]);
      done.polls += sockets.length;
    }
    await target.end(id);
  }
}

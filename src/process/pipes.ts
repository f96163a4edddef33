import type { Readable, Writable } from 'node:stream';
import type { Child, ChildEvents } from './child.js';
import { descriptorOf } from './native.js';
import { readNow } from './read-buffer.js';

/** The near ends of a program's standard streams. */
interface Ends {
  /** Null when the program's input is at EOF from the start. */
  stdin: Writable | null;
  stdout: Readable;
  stderr: Readable;
}

/** A child on pipes: tells its output, and the end when both outputs are at EOF. */
export function pipes(pid: number, { stdin, stdout, stderr }: Ends, events: ChildEvents): Child {
  const outputs = [stdout, stderr];
  let open = outputs.length;
  const listen = (output: Readable, stream: 'stdout' | 'stderr') => {
    output.on('data', (bytes: Uint8Array) => events.output(stream, bytes)); // never of a socket that tells by `readWith`
    output.on('error', () => output.destroy());
    output.once('close', () => {
      if (--open === 0) events.end();
    });
  };
  listen(stdout, 'stdout');
  listen(stderr, 'stderr');
  stdin?.on('error', () => stdin.destroy()); // EPIPE: the program closed its side
  return {
    pid,
    pause() {
      for (const output of outputs) output.pause();
    },
    resume() {
      for (const output of outputs) output.resume();
    },
    write(bytes, done) {
      if (stdin?.writable) stdin.write(bytes, (error) => done(error ?? null));
      else done(new Error('stdin is closed'));
    },
    endInput(done) {
      if (stdin?.writable) stdin.end((error?: Error | null) => done(error ?? null));
      else done(null);
    },
    resize() {},
    destroy() {
      stdin?.destroy();
      drain(stdout, (bytes) => events.output('stdout', bytes));
      drain(stderr, (bytes) => events.output('stderr', bytes));
      for (const output of outputs) output.destroy();
    },
  };
}

/** Tells what was printed and not read yet, because it was paused. */
function drain(output: Readable, tell: (bytes: Uint8Array) => void): void {
  if (output.destroyed || output.readableEnded) return;
  while (output.read() !== null); // its listener is told
  const fd = descriptorOf(output);
  if (fd >= 0) readNow(fd, tell);
}

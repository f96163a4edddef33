import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, openSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { RemoteFileSystem } from './client/remote-file-system.js';
import { type Bubblewrap, wrapped } from './process/bubblewrap.js';
import type { MountPlan } from './process/mount-plan.js';
import { OWN_PROGRAM } from './process/own-program.js';
import { sandboxDirectory } from './process/sandbox-directory.js';
import type { ExecutorFileSystem } from './protocol/index.js';
import { SandboxRefusal } from './protocol/sandbox.js';
import { socketFetch } from './socket-fetch.js';

/** Where the directory of the socket is in the sandbox: below /dev, which no policy speaks of. */
const INSIDE = '/dev/exec-gateway';

/** Time in which it has to be ready, in milliseconds. */
const MOST_START_MS = 15_000;

/** Characters of what it says that are kept. */
const SAID = 2_000;

/** A file is hidden behind an empty one without permissions, filled from a descriptor of /dev/null: what is there is still told right. */
const behindFile = (path: string, nth: number): string[] => ['--perms', '0000', '--ro-bind-data', String(3 + nth), path];

/** A gateway of its own in a sandbox, whose files are those of the policy: what it may do is up to the kernel. */
export class FileJail {
  readonly files: ExecutorFileSystem;
  /** Resolves when it is over, whoever ended it. */
  readonly ended: Promise<void>;
  readonly #child: ChildProcess;
  readonly #directory: string;

  private constructor(child: ChildProcess, directory: string, token: string) {
    this.#child = child;
    this.files = new RemoteFileSystem({ url: 'http://localhost', token, fetch: socketFetch(join(directory, 'socket')) });
    this.#directory = directory;
    // What could not be started tells of an error instead.
    const over = () => this.close();
    this.ended = once(child, 'close').then(over, over);
  }

  /**
   * @param signal ends it, at any time
   * @throws {SandboxRefusal} when it does not get ready, with what it said
   */
  static async open(programs: Bubblewrap, plan: MountPlan, fs_root: string, signal: AbortSignal): Promise<FileJail> {
    const directory = await mkdtemp(join(sandboxDirectory(), `${process.pid}-`));
    // Other programs of the same user may find the socket, and know no token.
    const token = randomBytes(32).toString('hex');
    const serve = ['serve', '--listen', `unix:${INSIDE}/socket`, '--fs-root', fs_root, '--log-level', 'silent'];
    const argv = [process.execPath, OWN_PROGRAM, ...serve];
    const run = wrapped(programs, plan, { network: false, cwd: '/', argv, more: ['--bind', directory, INSIDE], hide: behindFile });
    const jail = new FileJail(begin(run, token, plan.hidden.length), directory, token);
    const end = () => jail.close();
    signal.addEventListener('abort', end, { once: true });
    void jail.ended.finally(() => signal.removeEventListener('abort', end));
    if (signal.aborted) end();
    try {
      await ready(jail.#child);
      return jail;
    } catch (error) {
      end();
      await jail.ended;
      throw error;
    }
  }

  /** At once: the gateway may be about to end. */
  close(): void {
    this.#child.kill('SIGKILL');
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

/** @param nothings how many descriptors of /dev/null it gets, from 3 on */
function begin([file, ...args]: string[], token: string, nothings: number): ChildProcess {
  const nothing = openSync('/dev/null', 'r');
  try {
    return spawn(file as string, args, {
      cwd: '/',
      env: { EXEC_GATEWAY_TOKEN: token },
      stdio: ['ignore', 'pipe', 'pipe', ...Array<number>(nothings).fill(nothing)],
      // ^C in the terminal of the gateway is for the gateway, which ends this.
      detached: true,
    });
  } finally {
    closeSync(nothing);
  }
}

function ready(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = '';
    const fail = (why: string) =>
      reject(
        new SandboxRefusal(
          `Files cannot be used under this sandbox: the gateway that would run in it ${why} (${said.trim().slice(0, 300)}).`,
        ),
      );
    const overdue = setTimeout(() => fail(`was not ready after ${MOST_START_MS} ms`), MOST_START_MS);
    child.once('error', (error) => fail(`could not be started: ${error.message}`));
    child.once('close', () => {
      clearTimeout(overdue);
      fail('ended');
    });
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        said = (said + text).slice(-SAID);
        if (!said.includes('exec-gateway listens on ')) return;
        clearTimeout(overdue);
        resolve();
      });
  });
}

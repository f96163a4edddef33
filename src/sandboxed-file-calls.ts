import { statSync } from 'node:fs';
import { FileJail } from './file-jail.js';
import { bubblewrap } from './process/bubblewrap.js';
import { type MountPlan, mountPlan } from './process/mount-plan.js';
import { withoutSockets } from './process/sandbox-directory.js';
import { type ExecutorFileSystem, GatewayError } from './protocol/index.js';
import { type SandboxedFiles, type SandboxPolicy, SandboxRefusal } from './protocol/sandbox.js';

/** Jails of one caller, and of all together: each is a program of some 80 MB. */
const MOST_JAILS = 4;
const MOST_JAILS_OF_ALL = 16;

/** How long a jail that nothing uses is kept, in milliseconds. */
const IDLE_MS = 60_000;

interface Kept {
  jail: Promise<FileJail>;
  users: number;
  idle: NodeJS.Timeout | null;
}

let of_all = 0;

/** Calls of files under policies: the kernel keeps them, in one jail for each policy that is in use. */
export class SandboxedFileCalls implements SandboxedFiles {
  readonly #fs_root: string;
  readonly #hide: readonly string[];
  readonly #closed: () => void;
  readonly #jails = new Map<string, Kept>();
  readonly #end = new AbortController();

  /**
   * @param hide directories that no call may see, whatever its policy says
   * @param closed called when it is closed
   */
  constructor(fs_root: string, hide: readonly string[], closed: () => void) {
    this.#fs_root = fs_root;
    this.#hide = hide;
    this.#closed = closed;
  }

  async use<T>(policy: SandboxPolicy, act: (files: ExecutorFileSystem) => Promise<T>): Promise<T> {
    const plan = mountPlan(withoutSockets(policy, this.#hide));
    const key = keyOf(plan);
    const kept = this.#jails.get(key) ?? this.#begin(key, plan);
    kept.users++;
    if (kept.idle) clearTimeout(kept.idle);
    try {
      return await act((await kept.jail).files);
    } catch (error) {
      const hasEnded = error instanceof GatewayError && error.code === 'upstream_unreachable';
      throw hasEnded ? new SandboxRefusal('What keeps calls of files to this sandbox has ended: try again.') : error;
    } finally {
      kept.users--;
      if (kept.users === 0) kept.idle = setTimeout(() => void this.#drop(key, kept), IDLE_MS).unref();
    }
  }

  async close(): Promise<void> {
    this.#end.abort();
    this.#closed();
    await Promise.all([...this.#jails].map(([key, kept]) => this.#drop(key, kept)));
  }

  #begin(key: string, plan: MountPlan): Kept {
    if (this.#end.signal.aborted) throw new SandboxRefusal('The connection is gone.');
    if (this.#jails.size >= MOST_JAILS) this.#makeRoom();
    if (of_all >= MOST_JAILS_OF_ALL)
      throw new SandboxRefusal(`Files are used under ${MOST_JAILS_OF_ALL} sandboxes at once, which is the limit: try later.`);
    of_all++;
    const jail = bubblewrap().then((programs) => FileJail.open(programs, plan, this.#fs_root, this.#end.signal));
    const kept: Kept = { jail, users: 0, idle: null };
    this.#jails.set(key, kept);
    jail.then(
      ({ ended }) => ended.then(() => this.#forget(key, kept)),
      () => this.#forget(key, kept),
    );
    return kept;
  }

  /** The jail that waits longest makes room. */
  #makeRoom(): void {
    const idle = [...this.#jails].find(([, { users }]) => users === 0);
    if (!idle) throw new SandboxRefusal(`The connection uses files under ${MOST_JAILS} sandboxes at once, which is the limit: try later.`);
    void this.#drop(...idle);
  }

  async #drop(key: string, kept: Kept): Promise<void> {
    if (this.#jails.get(key) === kept) this.#jails.delete(key);
    if (kept.idle) clearTimeout(kept.idle);
    const jail = await kept.jail.catch(() => null);
    jail?.close();
    await jail?.ended;
  }

  /** It has ended, or never began: the next call begins another. */
  #forget(key: string, kept: Kept): void {
    of_all--;
    void this.#drop(key, kept);
  }
}

/** Equal as long as a jail shows what the policy says: when another directory has taken the place of one, it does not. */
function keyOf({ args, hidden, sources }: MountPlan): string {
  const identities = sources.map((path) => {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stats && `${stats.dev}:${stats.ino}:${stats.birthtimeNs}`;
  });
  return JSON.stringify([args, hidden, identities]);
}

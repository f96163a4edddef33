import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import type { ExecProcess, ExecutorFileSystem } from '../protocol/index.js';
import type { Sandbox } from '../protocol/sandbox.js';
import type { Attachment } from './attachment.js';
import { Connection } from './connection.js';
import { EnvironmentInfo } from './environment-info.js';
import type { Machine } from './machine.js';
import { invalidRequest, RPC, RpcError } from './rpc-error.js';
import { Session, sessionOf } from './session.js';
import { passEnded } from './session-process.js';

/** Sessions at once, detached ones among them. */
const MOST_SESSIONS = 256;

/** How long the end waits for a gateway behind to end processes, in milliseconds. */
const BEHIND_MS = 2_000;

/** What {@link CodexServer} is given. */
export interface CodexOptions {
  process: ExecProcess;
  files: ExecutorFileSystem;
  /** What keeps programs and calls of files to a policy; null where nothing can. */
  sandbox: Sandbox | null;
  /** Whether they are behind another gateway. */
  elsewhere: boolean;
  /** Whether the processes go on when this program ends. */
  outlived: boolean;
  /** Largest file a call may make, in bytes; null for any. */
  max_file_bytes: number | null;
  /** How long a session lives without a connection, and how long an ended process is known in it, in milliseconds. */
  linger_ms: number;
  /** Aborted when connections have to end. */
  end: AbortSignal;
  /** Told what went wrong on our side. */
  log(error: unknown): void;
}

/** The executor that Codex speaks to: sessions of clients over the processes and files of a machine. */
export class CodexServer {
  readonly #machine: Machine;
  readonly #options: CodexOptions;
  readonly #sessions = new Map<string, Session>();
  readonly #connections = new Set<Connection>();
  #ended: Promise<unknown> = Promise.resolve();

  constructor(options: CodexOptions) {
    const { process, files, sandbox, elsewhere, max_file_bytes, end } = options;
    const info = new EnvironmentInfo(process);
    this.#options = options;
    this.#machine = { process, files, sandbox, elsewhere, max_file_bytes, info: () => info.read() };
    end.addEventListener('abort', () => this.#end(), { once: true });
    if (options.outlived && !elsewhere) this.#endForgotten().catch(options.log);
  }

  /** Serves a WebSocket until it is closed. */
  accept(socket: WebSocket): void {
    const { log, end } = this.#options;
    const connection = new Connection(socket, {
      machine: this.#machine,
      open: (resume, attachment) => this.#open(resume, attachment),
      log,
    });
    this.#connections.add(connection);
    connection.gone.addEventListener('abort', () => this.#connections.delete(connection), { once: true });
    if (end.aborted) connection.end(GOING_AWAY, 'the gateway is shutting down');
  }

  /** Resolves when processes of the sessions that do not end with this program were ended, within 2 s. */
  async ended(): Promise<void> {
    const overdue = new AbortController();
    await Promise.race([this.#ended, setTimeout(BEHIND_MS, null, { signal: overdue.signal, ref: false }).catch(() => {})]);
    overdue.abort();
  }

  #open(resume: string | undefined, attachment: Attachment): Session {
    const session = resume === undefined ? this.#create() : this.#resume(resume);
    session.attach(attachment);
    return session;
  }

  #create(): Session {
    if (this.#sessions.size >= MOST_SESSIONS) this.#makeRoom();
    const id = randomUUID();
    const { linger_ms } = this.#options;
    const session = new Session(id, this.#machine, linger_ms, () => this.#sessions.delete(id));
    this.#sessions.set(id, session);
    return session;
  }

  #resume(id: string): Session {
    const session = this.#sessions.get(id);
    if (!session) throw invalidRequest(`unknown session id ${id.slice(0, 200)}`);
    if (!session.attachment) return session;
    // A client whose line broke may be back before that was noticed here.
    session.attachment.probe();
    throw new RpcError(RPC.SESSION_ATTACHED, `session ${id} is already attached to another connection`);
  }

  /** The oldest session that nobody is connected to and in which nothing runs makes room. */
  #makeRoom(): void {
    const idle = [...this.#sessions.values()].find((session) => session.idle);
    if (!idle) throw invalidRequest(`there are ${MOST_SESSIONS} sessions, which is the limit: end one, or wait for one to expire`);
    void idle.end();
  }

  /** Ends what the sessions of a gateway that was killed left running: nobody can come back for it. */
  async #endForgotten(): Promise<void> {
    const { process } = this.#machine;
    let cursor: string | undefined;
    do {
      const page = await process.list({ limit: 1_000, cursor });
      const forgotten = page.processes.filter((info) => info.state !== 'closed' && this.#isForgotten(sessionOf(info)));
      await Promise.all(forgotten.map(({ process_id }) => process.terminate(process_id, { grace_ms: 0 }).catch(passEnded)));
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
  }

  #isForgotten(session: string | null): boolean {
    return session !== null && !this.#sessions.has(session);
  }

  #end(): void {
    for (const connection of this.#connections) connection.end(GOING_AWAY, 'the gateway is shutting down');
    const sessions = [...this.#sessions.values()];
    if (this.#options.outlived) this.#ended = Promise.all(sessions.map((session) => session.end()));
    else for (const session of sessions) session.forget();
  }
}

/** Close code of an end that is not the client's doing (RFC 6455 §7.4.1). */
const GOING_AWAY = 1001;

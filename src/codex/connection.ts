import { setMaxListeners } from 'node:events';
import type { RawData, WebSocket } from 'ws';
import { GatewayError } from '../protocol/index.js';
import type { Attachment } from './attachment.js';
import type { Context } from './context.js';
import { FileHandles } from './file-handles.js';
import type { FileAccess, Machine } from './machine.js';
import { type Message, type RequestId, readMessage } from './message.js';
import { METHODS } from './methods.js';
import { MissingWatches } from './missing-watches.js';
import { Outbox } from './outbox.js';
import { Params } from './params.js';
import { invalidParams, invalidRequest, RPC, RpcError, toRpcError } from './rpc-error.js';
import type { Session } from './session.js';

/** Requests of one connection under way; more are not read from it until some are answered. */
const MOST_REQUESTS = 512;

/** Answers that wait to be taken, in bytes, before no more is read. */
const STALLED_BYTES = 8 * 1024 * 1024;

/** How often the other side is asked whether it is there, in milliseconds. */
const PEER_LOOK_MS = 30_000;

/** Time in which a connection that another one wants to take over has to show that it is there, in milliseconds. */
const PROBE_MS = 2_000;

/** Time in which the other side has to agree to an end, in milliseconds. */
const FAREWELL_MS = 300;

/** Close codes (RFC 6455 §7.4.1, and the registry beside it). */
const PROTOCOL_ERROR = 1002;
const INTERNAL_ERROR = 1011;

/** What a connection needs of the server it belongs to. */
export interface ConnectionHost {
  readonly machine: Machine;
  /** A new session, or the one to resume, attached to the connection. */
  open(resume: string | undefined, attachment: Attachment): Session;
  log(error: unknown): void;
}

/** One WebSocket of a client: reads messages, answers requests as they are done, and notices when the other side is gone. */
export class Connection implements Attachment {
  readonly outbox: Outbox;
  readonly #socket: WebSocket;
  readonly #host: ConnectionHost;
  readonly #gone = new AbortController();
  readonly #context: Context;
  readonly #ping: NodeJS.Timeout;
  #session: Session | null = null;
  #initialized = false;
  #requests = 0;
  #awaits_room = false;
  #seen = true;
  #probe: NodeJS.Timeout | null = null;
  #taken = 0;

  constructor(socket: WebSocket, host: ConnectionHost) {
    this.#socket = socket;
    this.#host = host;
    this.outbox = new Outbox(socket);
    setMaxListeners(0, this.gone); // every call that waits listens to it
    const { gone, outbox } = this;
    const { machine } = host;
    const session = () => this.#session as Session;
    const handles = new FileHandles(machine.max_file_bytes);
    const watches = new MissingWatches(outbox, gone);
    const { files } = machine;
    const access: FileAccess = (act) => act(files);
    const sandboxed = machine.sandbox?.files() ?? null;
    this.#context = { machine, files, access, sandboxed, outbox, gone, handles, watches, session, polls: 0, fetches: 0 };
    socket.on('message', (data) => this.#receive(data));
    socket.on('pong', () => this.#hear());
    socket.on('close', () => this.#close());
    socket.on('error', () => socket.terminate());
    this.#ping = setInterval(() => this.#look(), PEER_LOOK_MS);
  }

  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  drop(reason: string): void {
    this.#socket.close(INTERNAL_ERROR, reason.slice(0, 100));
    // The close waits behind what was sent before: one who takes nothing is not waited for.
    if (this.outbox.waiting_bytes > 0) this.#socket.terminate();
  }

  probe(): void {
    this.#probe ??= setTimeout(() => this.#socket.terminate(), PROBE_MS);
    this.#socket.ping();
  }

  /** Ends it because the server ends. */
  end(code: number, reason: string): void {
    this.#socket.close(code, reason);
    const overdue = setTimeout(() => this.#socket.terminate(), FAREWELL_MS);
    this.#socket.once('close', () => clearTimeout(overdue));
  }

  #hear(): void {
    this.#seen = true;
    if (this.#probe) clearTimeout(this.#probe);
    this.#probe = null;
  }

  #receive(data: RawData): void {
    this.#hear();
    let message: Message;
    try {
      message = readMessage(data as Buffer);
    } catch (error) {
      this.#answer(-1, error);
      return;
    }
    if (message.kind === 'request') this.#request(message.id, message.method, message.params);
    else if (message.kind === 'answer' || !this.#notify(message.method))
      this.#socket.close(PROTOCOL_ERROR, 'nothing like this is expected');
  }

  /** Whether a notification is known, and in its place. */
  #notify(method: string): boolean {
    if (method !== 'initialized' || this.#session === null) return false;
    this.#initialized = true;
    return true;
  }

  /** Requests are begun in order, and answered as each is done: one that waits holds up nobody. */
  #request(id: RequestId, method: string, params: unknown): void {
    this.#requests++;
    this.#throttle();
    this.#call(id, method, params)
      .then((result) => result !== STREAMED && this.outbox.send({ id, result }))
      .catch((error) => this.gone.aborted || this.#answer(id, error))
      .finally(() => {
        this.#requests--;
        this.#throttle();
      });
  }

  async #call(id: RequestId, method: string, params: unknown): Promise<object | typeof STREAMED> {
    if (method === 'initialize') return await this.#initialize(params);
    const found = METHODS.get(method);
    if (!found) throw new RpcError(RPC.METHOD_NOT_FOUND, `the exec-server does not implement \`${method}\``);
    const call = found.read(params);
    if (this.#session === null) throw invalidRequest(`client must call initialize before using ${found.kind} methods`);
    if (!this.#initialized) throw invalidRequest(`client must send initialized before using ${found.kind} methods`);
    return (await call(this.#context, id)) ?? STREAMED;
  }

  async #initialize(params: unknown): Promise<object> {
    const { clientName, resumeSessionId } = readInitialize(params);
    if (clientName.length > 1024) throw invalidParams('clientName is longer than 1024 characters');
    if (this.#session) throw invalidRequest('initialize may only be sent once per connection');
    this.#session = this.#host.open(resumeSessionId, this);
    const { id } = this.#session;
    return { sessionId: id, environmentInfo: await this.#host.machine.info() };
  }

  #answer(id: RequestId, thrown: unknown): void {
    const { code, message, data, cause } = toRpcError(thrown);
    if (cause !== undefined && !(cause instanceof GatewayError)) this.#host.log(cause);
    this.outbox.send({ error: { code, message, ...(data ? { data } : {}) }, id });
  }

  /** Reads no more while too much is under way, or answers are not taken. */
  #throttle(): void {
    if (this.gone.aborted) return;
    const isUnread = this.outbox.waiting_bytes > STALLED_BYTES;
    if (isUnread || this.#requests >= MOST_REQUESTS) this.#socket.pause();
    else this.#socket.resume();
    if (!isUnread || this.#awaits_room) return;
    this.#awaits_room = true;
    void this.outbox.room().then(() => {
      this.#awaits_room = false;
      this.#throttle();
    });
  }

  /** One who neither answered nor took anything since the last look is gone. A reader that is busy with what was sent is not. */
  #look(): void {
    const { outbox } = this;
    const taken = outbox.taken_bytes;
    const isBusy = taken !== this.#taken || this.#requests >= MOST_REQUESTS;
    this.#taken = taken;
    if (!this.#seen && !isBusy) {
      this.#socket.terminate();
      return;
    }
    this.#seen = false;
    this.#socket.ping();
  }

  #close(): void {
    clearInterval(this.#ping);
    if (this.#probe) clearTimeout(this.#probe);
    this.#gone.abort();
    this.outbox.close();
    this.#context.handles.close();
    void this.#context.sandboxed?.close();
    this.#session?.detach();
  }
}

function readInitialize(value: unknown): { clientName: string; resumeSessionId: string | undefined } {
  const params = new Params(value);
  return { clientName: params.text('clientName'), resumeSessionId: params.optionalText('resumeSessionId') };
}

const STREAMED = Symbol('streamed');

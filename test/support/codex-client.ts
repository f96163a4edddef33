import { once } from 'node:events';
import { WebSocket } from 'ws';

/** What comes from the server: an answer or a push. */
export interface CodexMessage {
  id?: string | number;
  method?: string;
  // The shape is what the tests look at.
  // biome-ignore lint/suspicious/noExplicitAny: a message may hold anything
  result?: any;
  error?: { code: number; message: string; data?: { kind: string } };
  // biome-ignore lint/suspicious/noExplicitAny: a message may hold anything
  params?: any;
}

/** A client of `/exec-server` as plain as can be: it sends what it is told to, and keeps what comes. */
export class CodexClient implements AsyncDisposable {
  readonly socket: WebSocket;
  /** Everything that came, in order. */
  readonly messages: CodexMessage[] = [];
  closed: { code: number; reason: string } | null = null;
  sessionId = '';
  #next_id = 0;
  #waiting: (() => void)[] = [];

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data) => {
      this.messages.push(JSON.parse(String(data)));
      this.#wake();
    });
    socket.on('close', (code, reason) => {
      this.closed = { code, reason: String(reason) };
      this.#wake();
    });
    socket.on('error', () => {});
  }

  /** Opens a connection; rejects with the status of a refusal. */
  static async open(url: string, headers: Record<string, string> = {}): Promise<CodexClient> {
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/exec-server`, {
      headers,
      perMessageDeflate: false,
      maxPayload: 1024 * 1024 * 1024,
    });
    const client = new CodexClient(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('unexpected-response', (_request, response) => {
        response.resume();
        socket.terminate();
        reject(new Error(`HTTP ${response.statusCode}`));
      });
      socket.once('error', reject);
    });
    return client;
  }

  /** A connection that is past the first two messages. */
  static async ready(url: string, headers: Record<string, string> = {}, resumeSessionId?: string): Promise<CodexClient> {
    const client = await CodexClient.open(url, headers);
    const { result, error } = await client.call('initialize', { clientName: 'test', resumeSessionId });
    if (error) throw new Error(`initialize failed: ${error.code} ${error.message}`);
    client.sessionId = result.sessionId;
    client.notify('initialized', {});
    return client;
  }

  /** Sends a request, and resolves with its answer. */
  async call(method: string, params?: unknown): Promise<CodexMessage> {
    const id = ++this.#next_id;
    this.socket.send(JSON.stringify({ id, method, params }));
    return await this.answer(id);
  }

  /** The result of a request that must succeed. */
  // biome-ignore lint/suspicious/noExplicitAny: a result may hold anything
  async result(method: string, params?: unknown): Promise<any> {
    const { result, error } = await this.call(method, params);
    if (error) throw new Error(`${method} failed: ${error.code} ${error.message}`);
    return result;
  }

  /** The code a request fails with; 0 when it does not. */
  async code(method: string, params?: unknown): Promise<number> {
    return (await this.call(method, params)).error?.code ?? 0;
  }

  notify(method: string, params?: unknown): void {
    this.socket.send(JSON.stringify({ method, params }));
  }

  /** Starts a process whose variables are PATH alone. */
  async start(processId: string, argv: string[], rest: object = {}): Promise<void> {
    await this.result('process/start', { processId, argv, cwd: 'file:///tmp', env: { PATH: '/usr/bin:/bin' }, tty: false, ...rest });
  }

  answer(id: string | number): Promise<CodexMessage> {
    return this.find(`an answer to ${id}`, (message) => message.id === id && message.method === undefined);
  }

  /** The first message that matches, now or later. */
  async find(what: string, matches: (message: CodexMessage) => boolean): Promise<CodexMessage> {
    for (let from = 0; ; ) {
      const found = this.messages.slice(from).find(matches);
      if (found) return found;
      from = this.messages.length;
      if (this.closed) throw new Error(`The connection was closed (${this.closed.code} ${this.closed.reason}) before ${what}.`);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Pushes about one process so far. */
  pushes(processId: string): CodexMessage[] {
    return this.messages.filter(({ method, params }) => method?.startsWith('process/') && params.processId === processId);
  }

  /** Output of a process so far, as pushed. */
  output(processId: string, stream?: string): Buffer {
    const chunks = this.pushes(processId).filter(
      ({ method, params }) => method === 'process/output' && (!stream || params.stream === stream),
    );
    return Buffer.concat(chunks.map(({ params }) => Buffer.from(params.chunk, 'base64')));
  }

  /** Resolves when the output has this text. */
  async printed(processId: string, text: string): Promise<void> {
    await this.find(`${processId} printed ${text}`, () => this.output(processId).includes(text));
  }

  /** Resolves with all that was pushed about a process once it is closed. */
  async whole(processId: string): Promise<CodexMessage[]> {
    await this.find(`the end of ${processId}`, ({ method, params }) => method === 'process/closed' && params.processId === processId);
    return this.pushes(processId);
  }

  async ended(): Promise<{ code: number; reason: string }> {
    while (!this.closed) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return this.closed;
  }

  /** Cuts the connection without a word. */
  cut(): void {
    this.socket.terminate();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.closed) return;
    const closed = once(this.socket, 'close');
    this.socket.terminate();
    await closed;
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

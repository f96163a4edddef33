import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ErrorCode, GatewayError, PROBLEM_TYPE } from '../../src/protocol/error.js';

/** One request that reached the stub. */
export interface StubRequest {
  request: IncomingMessage;
  response: ServerResponse;
  query: URLSearchParams;
  /** Requests before this one. */
  count: number;
}

/** A server that answers as a test tells it to: what no gateway does, or does only when it fails. */
export class StubGateway implements AsyncDisposable {
  readonly #server = createServer((request, response) => {
    const { searchParams: query } = new URL(request.url ?? '/', 'http://stub');
    response.setHeader('access-control-allow-origin', '*').setHeader('access-control-allow-headers', '*, authorization');
    if (request.method === 'OPTIONS') return void response.writeHead(204).end();
    this.queries.push(query);
    void Promise.resolve(this.#answer({ request, response, query, count: this.queries.length - 1 })).catch(() => response.destroy());
  });
  readonly #answer: (call: StubRequest) => unknown;
  readonly queries: URLSearchParams[] = [];

  private constructor(answer: (call: StubRequest) => unknown) {
    this.#answer = answer;
  }

  static async open(answer: (call: StubRequest) => unknown): Promise<StubGateway> {
    const stub = new StubGateway(answer);
    await new Promise<void>((resolve) => stub.#server.listen(0, '127.0.0.1', resolve));
    return stub;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Begins a stream of events. */
export function startEvents({ response }: StubRequest, headers: Record<string, string> = {}): ServerResponse {
  response.socket?.setNoDelay(true);
  response.writeHead(200, { 'content-type': 'text/event-stream', ...headers }).flushHeaders();
  return response;
}

/** Answers with a problem document. */
export function sendProblem({ response }: StubRequest, code: ErrorCode, detail = 'as the test wants it'): void {
  const problem = new GatewayError(code, detail).toProblem();
  response.writeHead(problem.status, { 'content-type': PROBLEM_TYPE }).end(JSON.stringify(problem));
}

/** Resolves when the caller has taken what was written, or is gone. */
export function room(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}

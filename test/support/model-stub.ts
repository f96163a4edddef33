import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the model says in one turn. */
export type ModelItem = Record<string, unknown>;

/** A call of a function tool. */
export const callFunction = (call_id: string, name: string, args: object): ModelItem => ({
  type: 'function_call',
  call_id,
  name,
  arguments: JSON.stringify(args),
});

/** Text that ends the turn. */
export const say = (text: string): ModelItem => ({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] });

/** What a model is given: all that was said so far, the results of its calls among it. */
export interface ModelRequest {
  input: { type: string; call_id?: string; output?: unknown }[];
  tools: { name?: string; type: string }[];
}

/** A model that follows a script: one item a turn, made of what it was given. */
export class ModelStub implements AsyncDisposable {
  readonly requests: ModelRequest[] = [];
  readonly #server: Server;

  private constructor(script: ((request: ModelRequest) => ModelItem | Promise<ModelItem>)[]) {
    this.#server = createServer((request, response) => {
      let body = '';
      request.on('data', (bytes) => {
        body += bytes;
      });
      request.on('end', async () => {
        if (!request.url?.includes('/responses')) {
          response.writeHead(200, { 'content-type': 'application/json' }).end('{"models":[],"data":[]}');
          return;
        }
        const asked = JSON.parse(body) as ModelRequest;
        const turn = this.requests.push(asked);
        const item = await (script[turn - 1] ?? (() => say('The script is over.')))(asked);
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const id = `response-${turn}`;
        const usage = { input_tokens: 1, input_tokens_details: null, output_tokens: 1, output_tokens_details: null, total_tokens: 2 };
        for (const event of [
          { type: 'response.created', response: { id } },
          { type: 'response.output_item.done', item },
          { type: 'response.completed', response: { id, usage } },
        ]) {
          response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
        }
        response.end();
      });
    });
  }

  static async open(script: ((request: ModelRequest) => ModelItem | Promise<ModelItem>)[]): Promise<ModelStub> {
    const stub = new ModelStub(script);
    await new Promise<void>((resolve) => stub.#server.listen(0, '127.0.0.1', resolve));
    return stub;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** The result of a call, as the model was told it. */
  outputOf(call_id: string): string {
    for (const { input } of this.requests) {
      const found = input.find((item) => item.call_id === call_id && item.type.endsWith('_output'));
      if (found) return typeof found.output === 'string' ? found.output : JSON.stringify(found.output);
    }
    throw new Error(`The model was not told what came of ${call_id}.`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

import type { Static } from '@sinclair/typebox';
import { addOctetsParser } from '../plugins/body-parsers.js';
import type { GatewayApp } from '../plugins/gateway-app.js';
import { releaseOctets } from '../plugins/octets.js';
import { decodeBase64 } from '../protocol/base64.js';
import { WriteRequest, writeFields } from '../protocol/control.js';
import { GatewayError } from '../protocol/error.js';
import type { ExecProcess, WriteOptions } from '../protocol/exec-process.js';
import { Strict } from '../protocol/schema.js';
import { whileCallerStays } from './caller-gone.js';
import { clampWait, ProcessPath } from './parameters.js';

const WriteParameters = Strict(writeFields);
type WriteParameters = Static<typeof WriteParameters>;

/** `POST /processes/{process_id}/stdin`, which alone takes raw bytes too. */
export function stdinRoute(parent: GatewayApp, processes: ExecProcess): void {
  parent.register((app: GatewayApp, _options, done) => {
    addOctetsParser(app);
    const schema = {
      params: ProcessPath,
      querystring: WriteParameters,
      body: { content: { 'application/json': { schema: WriteRequest } } },
    };
    app.post('/processes/:process_id/stdin', { schema }, async (request, reply) => {
      const { bytes, options } = input(request.body as Buffer | WriteRequest | undefined, request.query);
      const wait_ms = clampWait(options.wait_ms);
      const { process_id } = request.params;
      const accepted = await whileCallerStays(reply, (caller) => processes.write(process_id, bytes, { ...options, wait_ms }, caller));
      releaseOctets(bytes); // of a write that failed, some may still be on their way
      return accepted;
    });
    done();
  });
}

/** What to write: raw bytes with options in the query, or JSON with options in either. */
function input(body: Buffer | WriteRequest | undefined, query: WriteParameters): { bytes: Uint8Array; options: WriteOptions } {
  if (Buffer.isBuffer(body)) return { bytes: body, options: query };
  const { chunk, text, ...fields } = body ?? {};
  const twice = Object.keys(fields).find((name) => name in query);
  if (twice !== undefined) throw invalid(twice, `${twice} is given in the query and in the body: give it once.`);
  if (chunk !== undefined && text !== undefined) throw invalid('text', 'chunk and text are both given: give one.');
  const options = { ...query, ...fields };
  if (chunk === undefined && text === undefined && options.eof !== true) {
    throw invalid('chunk', 'chunk is missing: give chunk (base64), text, or eof true; or send raw bytes as application/octet-stream.');
  }
  if (text !== undefined && !text.isWellFormed()) throw invalid('text', 'text holds half of a surrogate pair: send the bytes as chunk.');
  return { bytes: chunk === undefined ? Buffer.from(text ?? '') : decodeBase64(chunk), options };
}

function invalid(field: string, detail: string): GatewayError {
  return new GatewayError('invalid_request', detail, { field });
}

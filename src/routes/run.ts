import type { GatewayApp } from '../plugins/gateway-app.js';
import type { ExecProcess } from '../protocol/exec-process.js';
import { RunRequest } from '../protocol/run.js';
import { whileCallerStays } from './caller-gone.js';
import { withBytesJson } from './output-json.js';
import { NoQuery } from './parameters.js';
import { JSON_TYPE, sendParts } from './send-parts.js';
import { processUrl } from './start.js';

/** `POST /run`. */
export function runRoute(app: GatewayApp, processes: ExecProcess): void {
  app.post('/run', { schema: { body: RunRequest, querystring: NoQuery } }, async (request, reply) => {
    const { encoding = 'utf8' } = request.body;
    const output = await whileCallerStays(reply, (caller) => processes.run(request.body, caller));
    const ended = output.reason !== null;
    if (!ended) reply.header('location', processUrl(output.process_id));
    const { stdout, stderr, ...rest } = output;
    return sendParts(reply, ended ? 200 : 202, JSON_TYPE, withBytesJson(rest, { stdout, stderr }, encoding));
  });
}

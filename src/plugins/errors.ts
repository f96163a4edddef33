import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { type ErrorCode, GatewayError, PROBLEM_TYPE } from '../protocol/error.js';
import { unsupported } from './body-parsers.js';
import type { GatewayApp } from './gateway-app.js';

/** Errors of the framework that are the caller's doing. */
const FRAMEWORK: Record<string, [ErrorCode, detail: string]> = {
  FST_ERR_CTP_INVALID_JSON_BODY: ['invalid_json', 'The body is not JSON, or names a field __proto__: send one JSON value.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['invalid_request', 'The body is not as long as Content-Length says: send the length it has.'],
  FST_ERR_BAD_URL: [
    'invalid_request',
    'The address has a "%" that does not begin an encoded UTF-8 character: write "%25" for a plain one.',
  ],
  FST_ERR_MAX_PARAM_LENGTH: ['uri_too_long', 'A part of the address is longer than 512 characters: ids have at most 128.'],
  ECONNRESET: ['invalid_request', 'The connection ended before the body did.'],
};

/** Answers every failure as a problem document (RFC 9457); what is not the caller's doing stays in the log. */
export function addErrors(app: GatewayApp, max_body_bytes: number): void {
  app.setErrorHandler<FastifyError | GatewayError>((error, request, reply) => {
    // The framework would close at once what still sends its body, and the caller would meet a reset in place of the answer.
    if (!request.raw.complete && reply.hasHeader('connection')) reply.removeHeader('connection');
    sendProblem(request, reply, toGatewayError(error, request, max_body_bytes));
  });
}

/** Sends an error; a 5xx that hides its cause is logged with it, unless it is that the caller left. */
export function sendProblem(request: FastifyRequest, reply: FastifyReply, error: GatewayError): FastifyReply {
  const left = reply.raw.destroyed && (error.cause as Error | undefined)?.name === 'AbortError';
  if (error.code === 'internal' && !left) request.log.error({ req_id: request.id, err: error.cause }, 'request failed');
  if (error.status === 401) reply.header('www-authenticate', 'Bearer');
  if (error.status === 429 || error.status === 503) {
    reply.header('retry-after', String(Math.max(1, Math.ceil((error.fields.retry_after_ms ?? 1000) / 1000))));
  }
  // As bytes: to text the framework would add a charset, which the media type does not have.
  return reply
    .code(error.status)
    .header('content-type', PROBLEM_TYPE)
    .send(Buffer.from(JSON.stringify(error.toProblem())));
}

/** Turns whatever was thrown into an error of the table. */
export function toGatewayError(error: FastifyError | GatewayError, request: FastifyRequest, max_body_bytes: number): GatewayError {
  if (error instanceof GatewayError) return error;
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    const limit = request.routeOptions.bodyLimit ?? max_body_bytes;
    return new GatewayError('payload_too_large', `The body is larger than ${limit} bytes: send it in smaller parts.`, { limit });
  }
  if (error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return unsupported(request.headers['content-type'], bodyTypes(request));
  const known = FRAMEWORK[error.code];
  if (known) return new GatewayError(known[0], known[1]);
  const detail = `The gateway failed; its log has the reason under the request id ${request.id}.`;
  return new GatewayError('internal', detail, {}, { cause: error });
}

function bodyTypes(request: FastifyRequest): string[] {
  return ['application/json', 'application/octet-stream'].filter((type) => request.server.hasContentTypeParser(type));
}

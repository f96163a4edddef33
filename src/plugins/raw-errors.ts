import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type ErrorCode, GatewayError, PROBLEM_TYPE } from '../protocol/error.js';
import { breakOff } from './break-off.js';
import { beingSent } from './connections.js';
import { SAFE_HEADERS } from './reply-headers.js';
import { endLater } from './unread-body.js';

const CODES: Record<string, [ErrorCode, detail: string]> = {
  HPE_HEADER_OVERFLOW: ['headers_too_large', 'The request line and headers are longer than 16 KiB: send less.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The request did not arrive in time: send it again.'],
};

/** Answers what never became a request: broken HTTP, headers too large, a request that stalls. */
export function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const reply = beingSent(socket);
  if (reply?.headersSent) {
    breakOff(reply); // an answer here would be taken for a part of that reply
    return;
  }
  const [code, detail] = CODES[error.code ?? ''] ?? (['invalid_request', 'This is not an HTTP/1.1 request.'] as const);
  const problem = new GatewayError(code, detail);
  const body = JSON.stringify(problem.toProblem());
  const headers = { ...SAFE_HEADERS, 'content-type': PROBLEM_TYPE, 'content-length': Buffer.byteLength(body), connection: 'close' };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${lines.join('')}\r\n${body}`);
  endLater(socket);
}

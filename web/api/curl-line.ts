import type { CallRequest } from './call-request.js';

/** A token in a body, as JSON writes it. */
const TOKEN = /("token"\s*:\s*)"(?:[^"\\]|\\.)*"/g;

const SOCKET = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: ZXhlYy1nYXRld2F5LXBhZw=='];

/**
 * The same request by curl. No token is in it: it is taken from the variable EXEC_GATEWAY_TOKEN.
 * @param base where the gateway is, without a slash at the end
 */
export function curlLine(request: CallRequest, base: string): string {
  const { method, path, headers, body, open, socket, live } = request;
  const parts = [`curl${socket ? ' -i -N --http1.1' : live ? ' -N' : ''}${methodFlag(method, body !== null)} ${quoted(base + path)}`];
  if (!open) parts.push('-H "Authorization: Bearer $EXEC_GATEWAY_TOKEN"');
  for (const [name, value] of headers) parts.push(`-H ${quoted(`${name}: ${value}`)}`);
  if (socket) parts.push(...SOCKET.map((header) => `-H ${quoted(header)}`));
  if (body instanceof File) parts.push(`--data-binary ${quoted(`@${body.name}`)}`);
  else if (body !== null) parts.push(`--data-raw ${quotedBody(body, path)}`);
  // curl calls a body a form where nobody says what it is.
  if (body !== null && !headers.some(([name]) => name === 'Content-Type')) parts.push("-H 'Content-Type:'");
  return parts.join(' \\\n  ');
}

function methodFlag(method: string, has_body: boolean): string {
  if (method === 'HEAD') return ' -I';
  return method === (has_body ? 'POST' : 'GET') ? '' : ` -X ${method}`;
}

/** One word of a shell, whatever is in it. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** The token of a sign-in is the variable too. */
const quotedBody = (body: string, path: string): string =>
  path === '/session' ? quoted(body).replace(TOKEN, `$1"'"$EXEC_GATEWAY_TOKEN"'"`) : quoted(body);

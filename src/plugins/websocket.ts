import { EventEmitter } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import websocket, { type WebSocket } from '@fastify/websocket';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { GatewayError } from '../protocol/error.js';
import { MAX_ATTACH_MESSAGE_BYTES } from '../protocol/limits.js';
import { whenFree } from './connections.js';
import type { GatewayApp } from './gateway-app.js';
import { serveWithoutUpgrade } from './without-upgrade.js';

/** Time that a peer has to answer the end of its connection while the gateway stops, in milliseconds. */
const CLOSING_MS = 300;

/** The close code of a server that goes away (RFC 6455 §7.4.1). */
export const GOING_AWAY = 1001;

/** The close code for a message that is too large (RFC 6455 §7.4.1). */
const TOO_LARGE = 1009;

/** How one request becomes a WebSocket. */
export interface Upgrade {
  /** The subprotocol to speak; null for none. */
  protocol: string | null;
  /** Further headers of the 101. */
  headers: Record<string, string>;
  /** Largest message taken, in bytes; a larger one ends the connection with 1009 and the reason `{code, limit}`. */
  max_message_bytes: number;
}

const upgrades = new WeakMap<IncomingMessage, Upgrade>();

/** Requests whose connection Node has handed over: nothing else can come on it. */
const handed_over = new WeakSet<IncomingMessage>();

/** Says how a request is going to be upgraded. To be called before its handler. */
export function prepareUpgrade(request: FastifyRequest, reply: FastifyReply, upgrade: Upgrade): void {
  upgrades.set(request.raw, upgrade);
  reply.raw.statusCode = 101; // what the log shows: the answer itself is not sent by way of the reply
}

/**
 * Takes WebSockets on routes that have a `wsHandler`, after all checks of other requests. A request that asks for another
 * upgrade, or asks another address, is answered as if it had not.
 */
export function addWebSockets(app: GatewayApp): void {
  const gate = new EventEmitter() as Server;
  const addresses: RegExp[] = [];
  app.addHook('onRoute', ({ url, wsHandler }) => {
    if (wsHandler) addresses.push(new RegExp(`^${url.replaceAll(/:\w+/g, '[^/?]+')}(\\?|$)`));
  });
  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const url = request.url ?? '';
    if (isWebSocket(request) && addresses.some((address) => address.test(url))) {
      handed_over.add(request);
      gate.emit('upgrade', request, socket, head);
    } else serveWithoutUpgrade(app.server, request, socket, head);
  };
  app.server.on('upgrade', (request, socket, head) => whenFree(request.socket, () => upgrade(request, socket, head)));
  app.register(websocket, {
    options: {
      server: gate,
      perMessageDeflate: false,
      handleProtocols: (_offered, request) => upgrades.get(request)?.protocol ?? false,
    },
    // One whose peer broke the protocol is told why, and closing, by now.
    errorHandler: (error, socket, request) => {
      request.log.debug({ req_id: request.id, err: error }, 'WebSocket broken off');
      if (socket.readyState === socket.OPEN) socket.terminate();
    },
    preClose(done) {
      for (const socket of app.websocketServer.clients) {
        socket.close(GOING_AWAY);
        setTimeout(() => socket.terminate(), CLOSING_MS).unref();
      }
      done();
    },
  });
  app.after(() => {
    const server = app.websocketServer;
    server.on('headers', (lines: string[], request: IncomingMessage) => {
      const { headers = {}, max_message_bytes = MAX_ATTACH_MESSAGE_BYTES } = upgrades.get(request) ?? {};
      for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
      server.options.maxPayload = max_message_bytes; // read for each connection right after this
    });
    server.on('connection', (socket: WebSocket, request: IncomingMessage) => tellTooLarge(socket, upgrades.get(request)));
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    endHandedOver(request, reply);
    done(null, payload);
  });
  app.addHook('preValidation', (request, reply, done) => done(request.ws ? badHandshake(request, reply) : undefined));
}

/**
 * Has a refusal end the connection that was handed over, where nothing else could be read. To be called before it is sent, where no hook
 * sees it.
 */
export function endHandedOver({ raw }: FastifyRequest, reply: FastifyReply): void {
  if (!handed_over.has(raw)) return;
  if (!reply.hasHeader('connection')) reply.header('connection', 'close');
  reply.raw.once('finish', () => raw.socket.destroySoon());
}

/** A message that is too large is refused below, by a close without a reason: it gets one. */
function tellTooLarge(socket: WebSocket, { max_message_bytes: limit = MAX_ATTACH_MESSAGE_BYTES }: Partial<Upgrade> = {}): void {
  const close = socket.close.bind(socket);
  socket.close = (code, reason) =>
    close(code, reason ?? (code === TOO_LARGE ? JSON.stringify({ code: 'payload_too_large', limit }) : undefined));
}

/** The refusal of a request that needs a WebSocket and did not ask for one (RFC 9110 §15.5.22). */
export function upgradeRequired(reply: FastifyReply, detail: string): GatewayError {
  // Who asked for the end of the connection waits for it.
  const connection = reply.raw.shouldKeepAlive ? 'upgrade' : 'close, upgrade';
  reply.headers({ upgrade: 'websocket', connection, 'sec-websocket-version': '13' });
  return new GatewayError('upgrade_required', detail, { field: 'Upgrade' });
}

function isWebSocket({ method, headers, httpVersion }: IncomingMessage): boolean {
  const has_body = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  return method === 'GET' && httpVersion === '1.1' && !has_body && headers.upgrade?.toLowerCase() === 'websocket';
}

/** What RFC 6455 §4.2.1 asks of a handshake, told as any other error. */
function badHandshake(request: FastifyRequest, reply: FastifyReply): GatewayError | undefined {
  const { 'sec-websocket-key': key, 'sec-websocket-version': version, 'sec-websocket-protocol': protocols } = request.headers;
  if (version !== '13') return upgradeRequired(reply, 'Sec-WebSocket-Version must be 13: no other version is spoken here.');
  if (typeof key !== 'string' || !/^[+/0-9A-Za-z]{22}==$/.test(key))
    return new GatewayError('invalid_request', 'Sec-WebSocket-Key must be 16 bytes in base64.', { field: 'Sec-WebSocket-Key' });
  if (protocols === undefined || subprotocols(protocols) !== null) return undefined;
  const detail = 'Sec-WebSocket-Protocol must be names, each once, with commas between them.';
  return new GatewayError('invalid_request', detail, { field: 'Sec-WebSocket-Protocol' });
}

/** The subprotocols that a header offers; null when it is not a list of names, each once. */
export function subprotocols(header: string): string[] | null {
  const offered = header.split(',').map((name) => name.trim());
  const valid = offered.every((name) => /^[!#$%&'*+.^_`|~\w-]+$/.test(name)) && new Set(offered).size === offered.length;
  return valid ? offered : null;
}

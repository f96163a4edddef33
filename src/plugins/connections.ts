import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { GatewayApp } from './gateway-app.js';

/** When a caller that closed its sending side is first asked whether it is still there, in milliseconds: quick replies go before. */
const FIRST_ASK_MS = 100;

/** How often it is asked, each time after twice as long: clients take 16 digits of a chunk's size, and it may need five itself. */
const MOST_ASKS = 11;

/** The status of a connection that speaks another protocol by now: nothing of HTTP may be sent on it. */
const SWITCHED = 101;

/** Who is told of every request: when it came, and once when its reply is over, sent or left by its caller. */
export interface RequestWatch {
  begun(): void;
  over(request: FastifyRequest, reply: FastifyReply): void;
}

/** The replies that each connection has still to carry, in their order. */
const unsent = new WeakMap<Socket, readonly ServerResponse[]>();

/**
 * Keeps count of the replies each connection has still to carry, and makes their `close` event true: Node emits it only
 * for the reply that is being sent, never for those of pipelined requests that wait behind it when the connection ends.
 * A caller that only closed its sending side (`nc -N`) is answered like any other.
 *
 * Callers wait by the thousand: each has one listener here, and what few connections need is made when it is needed.
 */
export function addConnections(app: GatewayApp, watch: RequestWatch): void {
  Object.assign(app.server, { httpAllowHalfOpen: true });
  app.addHook('onRequest', (request, reply, done) => {
    beginReply(request, reply, watch);
    done();
  });
}

/** Begins the count of one reply; each request has one, also one that reaches no hook. */
export function beginReply(request: FastifyRequest, reply: FastifyReply, watch: RequestWatch): void {
  const { socket } = request.raw;
  add(socket, reply.raw);
  watch.begun();
  reply.raw.on('close', () => {
    if (remove(socket, reply.raw)) watch.over(request, reply);
  });
}

/**
 * Calls back when a connection that Node has handed over carries no reply any more: a request for an upgrade may come behind others, or in
 * the moment in which the last reply has left and Node does not know yet. Until then nobody else looks after the connection.
 */
export function whenFree(socket: Socket, act: () => void): void {
  const last = unsent.get(socket)?.at(-1);
  if (last === undefined) {
    act();
    return;
  }
  const destroy = () => socket.destroy();
  const drained = () => void beingSent(socket)?.emit('drain');
  socket.on('error', destroy).on('drain', drained);
  last.once('close', () => {
    socket.off('error', destroy).off('drain', drained);
    if (!socket.writableEnded && !socket.destroyed) act();
  });
}

function add(socket: Socket, reply: ServerResponse): void {
  const before = unsent.get(socket);
  if (before === undefined) socket.on('end', askWhetherThere);
  else if (before.length > 0) socket.off('close', endPipeline).on('close', endPipeline);
  unsent.set(socket, before === undefined ? [reply] : [...before, reply]);
}

/** @returns whether it was there */
function remove(socket: Socket, reply: ServerResponse): boolean {
  const before = unsent.get(socket) ?? [];
  const after = before.filter((other) => other !== reply);
  unsent.set(socket, after);
  return after.length < before.length;
}

/** The reply that has the connection; the others wait behind it. */
export function beingSent(socket: Socket): ServerResponse | undefined {
  return unsent.get(socket)?.find((reply) => reply.socket !== null);
}

function endPipeline(this: Socket): void {
  for (const reply of unsent.get(this) ?? []) {
    if (reply.socket !== null || reply.writableFinished) continue; // Node tells these
    reply.destroy();
    reply.emit('close');
  }
}

/** A connection that was closed whole looks the same until something is sent: the first answer resets it, the next write tells. */
function askWhetherThere(this: Socket): void {
  let asks = 0;
  let timer: NodeJS.Timeout;
  const askIn = (ms: number) => {
    timer = setTimeout(() => {
      ask(this);
      asks += 1;
      if (asks < MOST_ASKS) askIn(asks === 1 ? ms : ms * 2);
    }, ms);
  };
  askIn(FIRST_ASK_MS);
  this.once('close', () => clearTimeout(timer));
}

/**
 * Sends what every client passes over: before a reply an interim one (RFC 9110 §15.2.1), between chunks a leading zero
 * of the next one's size (RFC 9112 §7.1). HTTP/1.0 has neither.
 */
function ask(socket: Socket): void {
  const reply = beingSent(socket);
  if (reply === undefined || reply.statusCode === SWITCHED || socket.writableLength > 0) return;
  if (reply.headersSent) {
    if (reply.chunkedEncoding && !reply.writableEnded) socket.write('0');
  } else if (reply.req.httpVersion === '1.1') reply.writeContinue();
}

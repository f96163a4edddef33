import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import http from 'node:http';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { listening } from '../listening.js';

const PROGRAMS = { bare: ['./bare-server.mjs'], gateway: ['../../dist/cli/main.cjs', 'serve', '--listen', '127.0.0.1:0'] };

/** A server of its own and its callers: `bare` or `gateway`, over the same documented calls. */
export class Target {
  #child;
  #url;
  #agent = new http.Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  #headers;
  #sockets = [];

  static async open(name, more) {
    const target = new Target();
    const [program, ...flags] = [...PROGRAMS[name], ...more];
    const token = randomBytes(16).toString('hex');
    target.#headers = { authorization: `Bearer ${token}` };
    target.#child = spawn(process.execPath, [fileURLToPath(new URL(program, import.meta.url)), ...flags], {
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { ...process.env, EXEC_GATEWAY_TOKEN: token },
    });
    target.#url = await listening(target.#child.stdout);
    return target;
  }

  /** Has something measured at a server of its own. */
  static async use(name, flags, measure) {
    const target = await Target.open(name, flags);
    try {
      return await measure(target);
    } finally {
      await target.close();
    }
  }

  /** Memory of the server, in bytes. */
  get memory() {
    return Number(readFileSync(`/proc/${this.#child.pid}/status`, 'utf8').match(/VmRSS:\s+(\d+)/)[1]) * 1024;
  }

  /** Processor time the server has taken, in ms. */
  get cpu() {
    const fields = readFileSync(`/proc/${this.#child.pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10;
  }

  /** Descriptors the server holds. */
  get descriptors() {
    return readdirSync(`/proc/${this.#child.pid}/fd`).length;
  }

  async close() {
    this.#agent.destroy();
    for (const socket of this.#sockets) socket.destroy();
    this.#child.kill('SIGKILL');
    await once(this.#child, 'close');
  }

  run(argv) {
    return this.#call('POST', '/run', JSON.stringify({ argv }));
  }

  async start(argv, options = {}) {
    const { process_id } = JSON.parse(await this.#call('POST', '/processes', JSON.stringify({ argv, ...options })));
    return process_id;
  }

  write(id, bytes) {
    return this.#call('POST', `/processes/${id}/stdin`, bytes, 'application/octet-stream');
  }

  end(id) {
    return this.#call('DELETE', `/processes/${id}?grace_ms=0`);
  }

  /** What is held after an event, of both streams or of one, at most 64 KiB. */
  async read(id, after_seq, stream) {
    const of = stream === undefined ? '' : `&stream=${stream}`;
    return JSON.parse(await this.#call('GET', `/processes/${id}/output?after_seq=${after_seq}&max_bytes=65536${of}`));
  }

  metrics() {
    return this.#call('GET', '/metrics');
  }

  /** Follows the raw output; resolves when it is answered, with a promise of its end. */
  async follow(id, take) {
    const request = this.#request('GET', `/processes/${id}/output?follow=true`, { accept: 'application/octet-stream' });
    request.end();
    const [response] = await once(request, 'response');
    if (response.statusCode !== 200) throw new Error(`Following was answered with ${response.statusCode}.`);
    response.on('data', take);
    const ended = once(response, 'end');
    ended.catch(() => {}); // most are left when their server is closed
    return { ended };
  }

  /** Connections for those who wait for output, made a hundred at a time: each has been answered once. */
  async connections(count) {
    const { hostname, port } = new URL(this.#url);
    const sockets = [];
    while (sockets.length < count) {
      const more = Array.from({ length: Math.min(100, count - sockets.length) }, () => connect(Number(port), hostname));
      await this.#ask(more, '/healthz');
      sockets.push(...more);
    }
    this.#sockets.push(...sockets);
    return sockets;
  }

  /** Has all of them wait for what comes after an event; resolves when they do, with a promise that all are answered. */
  async poll(sockets, id, after_seq) {
    const answered = this.#ask(sockets, `/processes/${id}/output?after_seq=${after_seq}&wait_ms=60000`);
    for (let i = 0; i < 2; i++) await this.run(['/bin/true']); // what is asked later is answered later
    return { answered };
  }

  /** Asks for the same on every connection; resolves when all are answered. */
  #ask(sockets, path) {
    const lines = [`GET ${path} HTTP/1.1`, `host: ${new URL(this.#url).host}`, `authorization: ${this.#headers.authorization}`];
    const text = `${lines.join('\r\n')}\r\naccept: application/json\r\n\r\n`;
    return Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('data', resolve).write(text))));
  }

  #request(method, path, headers) {
    return http.request(this.#url + path, { method, agent: this.#agent, headers: { ...this.#headers, ...headers } });
  }

  async #call(method, path, body, type = 'application/json') {
    const headers = body === undefined ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(body) };
    const request = this.#request(method, path, headers);
    request.end(body);
    const [response] = await once(request, 'response');
    const text = (await response.setEncoding('utf8').toArray()).join('');
    if (response.statusCode >= 300) throw new Error(`${method} ${path} was answered with ${response.statusCode}: ${text}`);
    return text;
  }
}

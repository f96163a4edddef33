// What HTTP from Node costs by itself: the calls of the gateway that the scenarios make, with node:http and child_process, and nothing
// else of it: no token, no checks, no log, no retention, no resuming. A measure, not a design.
import { spawn } from 'node:child_process';
import http from 'node:http';

const processes = new Map();
let last_id = 0;

const server = http.createServer(async (request, response) => {
  const [path, query = ''] = request.url.split('?');
  const [, , id, what] = path.split('/');
  const { method } = request;
  if (path === '/healthz') return json(response, {});
  if (method === 'GET') return (query.includes('wait_ms') ? poll : follow)(processes.get(id), response);
  const body = await bodyOf(request);
  if (path === '/run') return run(JSON.parse(body), response);
  if (path === '/processes') return json(response, start(JSON.parse(body)));
  if (what === 'stdin') return processes.get(id).stdin.write(body, () => json(response, { accepted_bytes: body.length }));
  processes.get(id).kill('SIGKILL');
  json(response, {});
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`listening on http://127.0.0.1:${server.address().port}\n`));

async function bodyOf(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts);
}

function json(response, value) {
  const text = JSON.stringify(value);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

function run({ argv: [program, ...rest] }, response) {
  const output = [];
  const child = spawn(program, rest, { stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => output.push(bytes));
  child.on('close', (exit_code) => json(response, { exit_code, stdout: Buffer.concat(output).toString() }));
}

/** Nothing is read before someone follows, so that nothing is lost. */
function start({ argv: [program, ...rest], pipe_stdin }) {
  const child = spawn(program, rest, { stdio: [pipe_stdin ? 'pipe' : 'ignore', 'pipe', 'ignore'] });
  const process_id = String(++last_id);
  child.followers = new Set();
  child.polls = new Set();
  child.on('close', () => processes.delete(process_id));
  processes.set(process_id, child);
  return { process_id };
}

/** The slowest of those who follow sets the pace. */
function follow(child, response) {
  response.writeHead(200, { 'content-type': 'application/octet-stream' });
  response.flushHeaders();
  if (child.followers.size === 0) child.stdout.on('data', (bytes) => pass(child, bytes)).on('end', () => end(child));
  child.followers.add(response);
  response.on('close', () => child.followers.delete(response));
}

/** Waits for output for a minute at most; what comes while nobody waits is not kept. */
function poll(child, response) {
  if (child.polls.size === 0 && child.stdout.listenerCount('data') === 0) child.stdout.on('data', (bytes) => answer(child, bytes));
  child.polls.add(response);
  const late = setTimeout(() => answerOne(child, response, ''), 60_000);
  response.on('close', () => {
    clearTimeout(late);
    child.polls.delete(response);
  });
}

function answer(child, bytes) {
  const chunk = bytes.toString('base64');
  for (const response of child.polls) answerOne(child, response, chunk);
}

function answerOne(child, response, chunk) {
  child.polls.delete(response);
  json(response, { chunks: [{ seq: 1, stream: 'stdout', chunk }], next_seq: 2 });
}

function pass(child, bytes) {
  for (const follower of child.followers) {
    if (follower.write(bytes)) continue;
    child.stdout.pause();
    follower.once('drain', () => child.stdout.resume());
  }
}

function end(child) {
  for (const follower of child.followers) follower.end();
}

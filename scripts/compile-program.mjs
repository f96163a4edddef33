// Has the engine keep what it compiles of the command line while that is used: a gateway, and two commands that call it.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { listening } from './listening.js';

const path = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));
const MAIN = ['--require', path('scripts/keep-compiled.cjs'), path('dist/cli/main.cjs')];
const TOKEN = 'only-while-the-program-is-compiled';
/** No setting of whoever builds. */
const ENV = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('EXEC_GATEWAY_')));

const gateway = spawn(process.execPath, [...MAIN, 'serve', '--listen', '127.0.0.1:0'], {
  stdio: ['ignore', 'pipe', 'ignore'],
  env: { ...ENV, EXEC_GATEWAY_TOKEN: TOKEN },
});
const url = await listening(gateway.stdout);
await use(url);
for (const words of [['run', '--', 'true'], ['ps']]) {
  const env = { ...ENV, EXEC_GATEWAY_URL: url, EXEC_GATEWAY_TOKEN: TOKEN };
  await ended(spawn(process.execPath, [...MAIN, ...words], { stdio: 'ignore', env }));
}
gateway.kill('SIGTERM');
await ended(gateway);

/** What is not used here is compiled when it is first used, as ever. */
async function use(base) {
  const call = async (method, at, body, headers = {}) => {
    const type = typeof body === 'string' ? 'application/octet-stream' : 'application/json';
    const response = await fetch(base + at, {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, ...(body === undefined ? {} : { 'content-type': type }), ...headers },
      body: typeof body === 'string' || body === undefined ? body : JSON.stringify(body),
    });
    assert(response.ok, `${method} ${at} was answered with ${response.status}.`);
    return response;
  };
  await (await call('POST', '/run', { argv: ['true'] })).json();
  for (const tty of [false, true]) {
    const { process_id } = await (await call('POST', '/processes', { argv: ['cat'], tty, pipe_stdin: !tty })).json();
    const events = await call('GET', `/processes/${process_id}/events`, undefined, { accept: 'text/event-stream' });
    const output = await call('GET', `/processes/${process_id}/output?follow=true`, undefined, { accept: 'application/octet-stream' });
    await (await call('POST', `/processes/${process_id}/stdin`, 'some bytes\n')).json();
    await (await call('GET', `/processes/${process_id}/output?wait_ms=1000`)).json();
    await (await call('GET', '/processes')).json();
    await (await call('DELETE', `/processes/${process_id}`)).json();
    await Promise.all([events.text(), output.text()]);
  }
}

async function ended(child) {
  const [code] = await once(child, 'close');
  assert.equal(code, 0, `${child.spawnargs.join(' ')} ended with ${code}.`);
}

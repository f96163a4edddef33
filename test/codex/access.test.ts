import { once } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CodexClient } from '../support/codex-client.js';
import { useCodex } from './use-codex.js';

const codex = useCodex((scratch) => {
  const at = (name: string) => join(scratch, name);
  mkdirSync(at('root/in'), { recursive: true });
  mkdirSync(at('outside'));
  writeFileSync(at('outside/secret'), 'secret');
  symlinkSync('../outside', at('root/link'));
  return { flags: ['--fs-root', at('root'), '--confine-cwd'] };
});
const { gateway } = codex;

test('without the token nobody gets in', async () => {
  const { url } = gateway.server;
  await expect(CodexClient.open(url)).rejects.toThrow('HTTP 401');
  await expect(CodexClient.open(url, { authorization: 'Bearer wrong' })).rejects.toThrow('HTTP 401');
});

test.each(['https://evil.example', 'null', 'same host'])('no page gets in: Origin %s', async (origin) => {
  const { url, token } = gateway.server;
  const headers = { authorization: `Bearer ${token}`, origin: origin === 'same host' ? url : origin };
  await expect(CodexClient.open(url, headers)).rejects.toThrow('HTTP 403');
  expect((await gateway.fetch('/exec-server', { headers: { origin: headers.origin } })).status).toBe(403);
});

test('what is no upgrade is told what to do', async () => {
  const reply = await gateway.fetch('/exec-server');
  expect(reply.status).toBe(426);
  expect(((await reply.json()) as { code: string }).code).toBe('upgrade_required');
  expect((await gateway.fetch('/exec-server', { method: 'POST' })).status).toBe(405);
});

test('an upgrade of another address is an ordinary error', async () => {
  const socket = connect(gateway.port, '127.0.0.1');
  const lines = [
    'GET /nothing HTTP/1.1',
    `Host: 127.0.0.1:${gateway.port}`,
    gateway.authorization,
    'Connection: Upgrade',
    'Upgrade: websocket',
  ];
  socket.write(`${[...lines, 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=='].join('\r\n')}\r\n\r\n`);
  const [reply] = await once(socket, 'data');
  socket.destroy();
  expect(String(reply)).toMatch(/^HTTP\/1\.1 404 /);
});

test('a refused upgrade ends its connection', async () => {
  const socket = connect(gateway.port, '127.0.0.1');
  const lines = ['GET /exec-server HTTP/1.1', `Host: 127.0.0.1:${gateway.port}`, 'Connection: Upgrade', 'Upgrade: websocket'];
  socket.write(`${[...lines, 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=='].join('\r\n')}\r\n\r\n`);
  let text = '';
  socket.on('data', (bytes) => {
    text += bytes;
  });
  await once(socket, 'end');
  socket.destroy();
  expect(text).toMatch(/^HTTP\/1\.1 401 /);
});

test('no path leaves the file root, and no process begins outside of it', async () => {
  await using client = await codex.ready();
  await client.result('fs/writeFile', { path: codex.uri('root/in/a'), dataBase64: 'aGk=' });
  expect((await client.result('fs/canonicalize', { path: codex.uri('root/in/../in/a') })).path).toBe(codex.uri('root/in/a'));
  for (const path of [
    codex.uri('outside/secret'),
    codex.uri('root/../outside/secret'),
    codex.uri('root/link/secret'),
    'file:///etc/passwd',
  ]) {
    for (const method of ['fs/readFile', 'fs/getMetadata', 'fs/remove', 'fs/canonicalize', 'fs/readDirectory', 'fs/createDirectory']) {
      expect(await client.code(method, { path }), `${method} ${path}`).toBe(-32603);
    }
    expect(await client.code('fs/writeFile', { path, dataBase64: '' })).toBe(-32603);
    for (const mode of ['read', 'replace']) expect(await client.code('fs/open', { handleId: 'h', path, mode })).toBe(-32603);
    expect(await client.code('fs/copy', { sourcePath: path, destinationPath: codex.uri('root/in/b'), recursive: true })).toBe(-32603);
  }
  const start = { argv: ['pwd'], env: { PATH: '/usr/bin:/bin' }, tty: false };
  expect(await client.code('process/start', { ...start, processId: 'out', cwd: codex.uri('outside') })).toBe(-32603);
  expect(await client.code('process/start', { ...start, processId: 'out', cwd: codex.uri('root/link') })).toBe(-32603);
  await client.start('in', ['pwd'], { cwd: codex.uri('root/in') });
  await client.whole('in');
  expect(client.output('in').toString()).toBe(`${codex.path('root/in')}\n`);
});

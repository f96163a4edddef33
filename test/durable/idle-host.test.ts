import { EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { HostedMachine } from '../../src/host/calls.js';
import { FrontConnection } from '../../src/host/front-connection.js';
import { HostServer } from '../../src/host/host-server.js';
import { HOST_PROTOCOL } from '../../src/host/words.js';

const dir = mkdtempSync(join(tmpdir(), 'idle-host-'));
afterAll(() => rmSync(dir, { recursive: true }));

const socket = join(dir, 'host.sock');
const connect = () =>
  FrontConnection.open(socket, { protocol: HOST_PROTOCOL, version: '1', pid: process.pid, settings: null }, AbortSignal.timeout(10_000));

test('a host that nobody needs ends when its front has left, and a front that comes meanwhile is not told that it was drained', async () => {
  const told = new EventEmitter();
  const closing = once(told, 'closing');
  const ended = once(told, 'ended');
  const close = () => {
    told.emit('closing');
    return once(told, 'closed');
  };
  const machine = { stats: async () => ({ running: 0, retained: 0 }), close } as unknown as HostedMachine;
  const host = new HostServer(machine, { version: '1', idle_ms: 20, log: () => {}, ended: () => void told.emit('ended') });
  await host.listen(socket);
  const front = await connect();
  front.close();
  await front.closed;
  await closing;
  await expect(connect()).rejects.toMatchObject({ code: 'upstream_unreachable' });
  told.emit('closed');
  expect(await ended).toEqual([]);
});

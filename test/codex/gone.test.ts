import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { useCodex } from './use-codex.js';

const codex = useCodex();

test('a client that is gone in the middle of large reads leaves the gateway well', async () => {
  writeFileSync(codex.path('large'), randomBytes(30_000_000));
  for (let round = 0; round < 3; round++) {
    const client = await codex.ready();
    const frames = (client.socket as unknown as { _socket: Socket })._socket;
    for (const id of [11, 12, 13]) client.socket.send(JSON.stringify({ id, method: 'fs/readFile', params: { path: codex.uri('large') } }));
    await new Promise((resolve) => frames.once('data', resolve));
    client.socket.terminate();
    expect((await codex.gateway.fetch('/healthz')).status).toBe(200);
  }
});

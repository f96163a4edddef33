import { connect, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { until } from '../support/proc.js';
import { requestText } from '../wire/raw-connection.js';
import { useGateway } from '../wire/use-gateway.js';
import { ByteMeter } from './event-meter.js';
import { RssWatch } from './rss-watch.js';

const MIB = 1024 * 1024;
/** More would fill what the kernel allows to all connections of a machine: over loopback it takes 2.5 MB for each. */
const CLIENTS = 300;

const gateway = useGateway();

/** Asks for a stream and never reads it. */
function unread(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(gateway.port, '127.0.0.1', () => {
      socket.write(requestText(`GET ${path} HTTP/1.1`, [`Host: 127.0.0.1:${gateway.port}`, gateway.authorization]), () => resolve(socket));
    });
    socket.pause().once('error', reject);
  });
}

/** How long the gateway takes for the slowest of so many answers, in milliseconds. */
async function slowestOf(answers: number): Promise<number> {
  let slowest = 0;
  for (let i = 0; i < answers; i++) {
    const asked = performance.now();
    expect((await gateway.fetch('/healthz')).status).toBe(200);
    slowest = Math.max(slowest, performance.now() - asked);
  }
  return slowest;
}

describe.each(['/events', '/output?follow=true'])('300 clients come at once to an endless process and never read: %s', (path) => {
  test('health is answered within 2 s all the time, and each costs little more than its connection', async () => {
    const { process_id } = await gateway.start(['yes']);
    const warm = await new ByteMeter(gateway.server.url, process_id, gateway.server.token).opened;
    await until('the gateway is warm', () => warm.bytes > 20 * MIB, 30_000);
    warm.close();
    const memory = new RssWatch(gateway.server.pid);
    const meanwhile = slowestOf(200);
    const sockets = await Promise.all(Array.from({ length: CLIENTS }, () => unread(`/processes/${process_id}${path}`)));
    expect(Math.max(await meanwhile, await slowestOf(500))).toBeLessThan(2000);
    expect(memory.stop()).toBeLessThan(90 * MIB);
    for (const socket of sockets) socket.destroy();
  });
});

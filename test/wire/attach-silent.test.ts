import { expect, test } from 'vitest';
import { findNginx, Nginx } from '../support/nginx.js';
import { until } from '../support/proc.js';
import { AttachClient } from './attach-client.js';
import { EventReader } from './event-reader.js';
import { useGateway } from './use-gateway.js';

/** What the proxy takes for silence, in seconds, and how long the process says nothing. */
const CUT_AFTER_S = 30;
const SILENT_S = 34;

/** Longest time between two signs of life, in milliseconds: 15 s are promised, and they have to get here. */
const MOST_BETWEEN_MS = 16_000;

const NGINX = findNginx();
const gateway = useGateway();
const UPGRADES = ['proxy_http_version 1.1;', 'proxy_set_header Upgrade $http_upgrade;', 'proxy_set_header Connection upgrade;'];

test.skipIf(NGINX === null)('B49 as it is by default, a silent stream lives through a proxy that cuts after 30 s of silence', async () => {
  await using nginx = await Nginx.start(gateway.server.url, [...UPGRADES, `proxy_read_timeout ${CUT_AFTER_S}s;`]);
  const { process_id } = await gateway.start(['sh', '-c', `echo one; sleep ${SILENT_S}; echo two`]);
  const at = `/processes/${process_id}`;
  const headers = { authorization: `Bearer ${gateway.server.token}` };
  const raw = await AttachClient.open(gateway, `${at}/attach?read_only=true`, false, nginx.url);
  const viewer = await AttachClient.open(gateway, `${at}/attach?read_only=true`, true, nginx.url);
  const life = [raw, viewer].map(signsOfLife);
  const reader = await EventReader.open(`${nginx.url}${at}/events`, headers);
  const without = await fetch(`${nginx.url}${at}/output?follow=true`, { headers });

  await viewer.until(() => viewer.text() === 'one\n');
  await until('both were asked twice', () => life.every(({ length }) => length === 3), 40_000);
  const [last] = viewer.seqs();
  expect([last, viewer.messages.length], 'to be asked is no event').toEqual([1, 2]);
  const resumed = await AttachClient.open(gateway, `${at}/attach?read_only=true&after_seq=${last}`, true, nginx.url);

  await expect(without.text(), 'without a sign of life it is cut').rejects.toThrow();
  expect(await raw.untilEnd()).toEqual({ code: 1000, reason: '{"exit_code":0,"signal":null}' });
  await Promise.all([viewer.untilEnd(), resumed.untilEnd(), reader.until(({ ended }) => ended !== null)]);
  expect([raw.text(false), viewer.seqs(), resumed.seqs()]).toEqual(['one\ntwo\n', [1, 2, 3, 4], [2, 3, 4]]);
  expect([reader.ended, reader.events.map(({ id }) => id)]).toEqual(['complete', ['1', '2', '3', '4']]);
  expect(reader.comments).toBeGreaterThanOrEqual(2);
  for (const times of life) {
    for (const [i, time] of times.slice(1).entries()) expect(time - (times[i] as number)).toBeLessThan(MOST_BETWEEN_MS);
  }
});

/** When a viewer was opened, and when it was asked whether it is there. */
function signsOfLife({ socket }: AttachClient): number[] {
  const times = [performance.now()];
  socket.on('ping', () => times.push(performance.now()));
  return times;
}

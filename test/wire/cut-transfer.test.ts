import { expect, test } from 'vitest';
import { until } from '../support/proc.js';
import { RawConnection, requestText } from './raw-connection.js';
import { useGateway } from './use-gateway.js';

const gateway = useGateway();

/** A follower of raw output that does not read until it is told to, and how its connection ended. */
async function follower(process_id: string, version: '1.0' | '1.1') {
  const connection = await RawConnection.open(gateway.port);
  const ended: string[] = [];
  connection.socket.on('error', (error: NodeJS.ErrnoException) => ended.push(error.code ?? ''));
  connection.socket.on('end', () => ended.push('end'));
  const line = `GET /processes/${process_id}/output?follow=true HTTP/${version}`;
  connection.send(requestText(line, [`Host: 127.0.0.1:${gateway.port}`, gateway.authorization]));
  await connection.until((text) => text.includes('ready\n'));
  return { connection, ended };
}

const PRINTS = ['sh', '-c', 'echo ready; read x; head -c 60000000 /dev/zero; echo done'];

test.each(['1.0', '1.1'] as const)('a transfer by HTTP/%s that is cut looks cut, and one that is whole looks whole', async (version) => {
  const { process_id } = await gateway.start(PRINTS, { pipe_stdin: true, retain_bytes: 4096 });
  const { connection, ended } = await follower(process_id, version);
  connection.socket.pause();
  await gateway.send('POST', `/processes/${process_id}/stdin`, { text: '\n' });
  await until('all is printed', async () => (await (await gateway.fetch(`/processes/${process_id}`)).json()).state === 'closed', 30_000);
  connection.socket.resume();
  await connection.untilClosed();
  expect(connection.received).not.toContain('done');
  if (version === '1.0') expect(ended).toEqual(['ECONNRESET']);
  else expect(connection.received.endsWith('\r\n0\r\n\r\n')).toBe(false);

  const short = await gateway.start(['sh', '-c', 'echo ready; echo done']);
  const whole = await follower(short.process_id, version);
  if (version === '1.0') {
    await whole.connection.untilClosed();
    expect([whole.ended, whole.connection.received.endsWith('ready\ndone\n')]).toEqual([['end'], true]);
  } else {
    expect(await whole.connection.until((text) => text.endsWith('\r\n0\r\n\r\n'))).toBe(true);
    whole.connection.destroy();
  }
});

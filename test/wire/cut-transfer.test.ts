import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { until } from '../support/proc.js';
import { useGateway } from './use-gateway.js';

const READER = fileURLToPath(new URL('../fixtures/plain-reader.py', import.meta.url));
const gateway = useGateway();

/** A follower of raw output that has read `ready`, and reads the rest when it is told to: how it ended, and the last bytes. */
async function follower(process_id: string, version: '1.0' | '1.1') {
  const reader = spawn('python3', [READER, String(gateway.port)], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: reader.stdout });
  const line = `GET /processes/${process_id}/output?follow=true HTTP/${version}`;
  // Its own connection: one that is kept open has no end to look at.
  reader.stdin.write(`${line}\nHost: 127.0.0.1:${gateway.port}\nConnection: close\n${gateway.authorization}\n\n`);
  expect(await once(lines, 'line')).toEqual(['ready']);
  return async () => {
    const told = once(lines, 'line');
    reader.stdin.end('\n');
    return ((await told) as [string])[0];
  };
}

const PRINTS = ['sh', '-c', 'echo ready; read x; head -c 60000000 /dev/zero; echo done'];

test.each(['1.0', '1.1'] as const)('a transfer by HTTP/%s that is cut looks cut, and one that is whole looks whole', async (version) => {
  const { process_id } = await gateway.start(PRINTS, { pipe_stdin: true, retain_bytes: 4096 });
  const rest = await follower(process_id, version);
  await gateway.send('POST', `/processes/${process_id}/stdin`, { text: '\n' });
  await until('all is printed', async () => (await (await gateway.fetch(`/processes/${process_id}`)).json()).state === 'closed', 30_000);
  const end = await rest();
  // HTTP/1.0 has no other mark of an end than the connection's; HTTP/1.1 has an empty chunk.
  if (version === '1.0') expect(end).toMatch(/^reset /);
  expect(end).not.toContain('done');
  expect(end).not.toContain('\\r\\n0\\r\\n\\r\\n');

  const short = await gateway.start(['sh', '-c', 'echo ready; echo done']);
  const whole = await follower(short.process_id, version);
  expect(await whole()).toBe(version === '1.0' ? "end b'ready\\ndone\\n'" : "end b'one\\n\\r\\n0\\r\\n\\r\\n'");
});

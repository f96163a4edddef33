import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../support/proc.js';
import { codeOf, followAll } from '../support/told.js';
import { Lasting } from './lasting.js';

describe('a start that is repeated after a crash', () => {
  const lasting = new Lasting();
  const started = join(lasting.dir, 'started');
  const request = (process_id: string) => ({ process_id, argv: ['sh', '-c', `echo ${process_id} >> ${started}; exec sleep 1000`] });

  beforeAll(async () => {
    await lasting.open();
    for (const process_id of ['ran', 'begun', 'unwritten']) await lasting.process.start(request(process_id), { once: true });
    await until('all run', () => existsSync(started) && readFileSync(started, 'utf8').split('\n').length === 4);
    await lasting.crash(() => {
      const bytes = readFileSync(record('begun'));
      writeFileSync(record('begun'), bytes.subarray(0, 12 + bytes.readUInt32LE(4))); // up to the moment before it was started
      writeFileSync(record('unwritten'), '');
      writeFileSync(started, '');
    });
  }, 60_000);
  afterAll(() => lasting.close());

  const record = (process_id: string) => join(lasting.dir, 'transcripts', process_id, 'process');

  it('runs nothing twice, and finds what is left of the first', async () => {
    const { created, process } = await lasting.process.start(request('ran'), { once: true });
    expect([created, process.reason]).toEqual([false, 'lost']);
    const other = { ...request('ran'), argv: ['true'] };
    expect(await codeOf(lasting.process.start(other, { once: true }))).toBe('process_exists');
    expect(await codeOf(lasting.process.start(request('ran')))).toBe('process_exists');
    expect(readFileSync(started, 'utf8')).toBe('');
  });

  it('runs nothing that may have run', async () => {
    const { created, process } = await lasting.process.start(request('begun'), { once: true });
    expect([created, process.state, process.reason, process.pid, process.started_at]).toEqual([false, 'closed', 'lost', null, null]);
    expect((await followAll(lasting.process, 'begun')).exit).toMatchObject({ exit_code: 137 });
    expect(readFileSync(started, 'utf8')).toBe('');
  });

  it('runs what cannot have run', async () => {
    const { created } = await lasting.process.start(request('unwritten'), { once: true });
    expect(created).toBe(true);
    await until('it runs', () => readFileSync(started, 'utf8') === 'unwritten\n');
    expect(await lasting.process.get('unwritten')).toMatchObject({ state: 'running' });
  });

  it('is not made where it cannot be written; one that promises nothing is', async () => {
    const blocked = { process_id: 'blocked', argv: ['echo', 'hello'] };
    writeFileSync(join(lasting.dir, 'transcripts', 'blocked'), ''); // nobody, root included, makes a directory there
    expect(await codeOf(lasting.process.start(blocked, { once: true }))).toBe('resource_exhausted');
    expect(await codeOf(lasting.process.get('blocked'))).toBe('process_not_found');
    writeFileSync(join(lasting.dir, 'transcripts', 'blocked'), '');
    await lasting.process.start(blocked);
    expect((await followAll(lasting.process, 'blocked')).text()).toBe('hello\n');
  });
});

describe('what is forgotten', () => {
  const lasting = new Lasting();
  afterAll(() => lasting.close());

  it('leaves its id spent, and nothing else; what was asked to end is closed', async () => {
    await lasting.open({ limits: { max_closed: 1 } });
    const ids = ['first', 'second', 'third'];
    for (const process_id of ids) {
      await lasting.process.start({ process_id, argv: ['true'] }, { once: true });
      await followAll(lasting.process, process_id);
    }
    await lasting.process.start({ process_id: 'ended', argv: ['sleep', '1000'] });
    await until('two are taken away', () => lasting.files().length === 2);
    await lasting.end('SIGTERM');
    await lasting.open();
    expect(lasting.stderr).toBe('');
    expect(await lasting.process.get('ended')).toMatchObject({ state: 'closed', reason: 'shutdown', signal: 'SIGTERM' });
    expect((await followAll(lasting.process, 'ended')).gaps).toEqual([]);
    for (const process_id of ids.slice(0, 2)) {
      expect(await codeOf(lasting.process.get(process_id))).toBe('process_not_found');
      expect(await codeOf(lasting.process.start({ process_id, argv: ['true'] }, { once: true }))).toBe('process_exists');
    }
    await lasting.end('SIGKILL');
    await lasting.open({ limits: { retain_closed_ms: 1 } });
    await until('all is taken away', () => lasting.files().length === 0);
    expect(await codeOf(lasting.process.start({ process_id: 'ended', argv: ['true'] }))).toBe('process_exists');
  });
});

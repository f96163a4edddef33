import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MAX_WAIT_MS, type StartRequest } from '../../src/protocol/index.js';
import { BACKENDS, useBackend } from '../support/backends.js';
import { codeOf, errorOf, readAll } from '../support/told.js';

describe.each([...BACKENDS, 'hosted'] as const)('%s', (name) => {
  const backend = useBackend(name, { limits: { max_closed: 5 } });
  const once = (request: StartRequest) => backend.process.start(request, { once: true });

  it('a repeated start-once finds the process of the first', async () => {
    const request = { process_id: 'once', argv: ['cat'], pipe_stdin: true, labels: { a: '1', b: '2' }, env: { X: '1', Y: '2' } };
    const first = await once(request);
    expect(first).toMatchObject({ created: true, process: { process_id: 'once', state: 'running' } });
    const again = await once({ ...request });
    expect(again).toMatchObject({ created: false, process: { process_id: 'once', pid: first.process.pid } });
  });

  it('requests are compared as values: the order of fields does not matter, that of argv does', async () => {
    await once({ process_id: 'order', argv: ['echo', 'a', 'b'], env: { X: '1', Y: '2' }, labels: { a: '1', b: '2' } });
    const turned = { labels: { b: '2', a: '1' }, env: { Y: '2', X: '1' }, argv: ['echo', 'a', 'b'], process_id: 'order' };
    expect(await once(turned)).toMatchObject({ created: false });
    expect(await codeOf(once({ ...turned, argv: ['echo', 'b', 'a'] }))).toBe('process_exists');
  });

  it.each<[string, Partial<StartRequest>]>([
    ['another argument', { argv: ['cat', '-'] }],
    ['a further field', { cwd: '/' }],
    ['a field spelt out with its default', { tty: false }],
    ['another variable', { env: { X: '2' } }],
  ])('another request for the same id is refused: %s', async (_what, change) => {
    const request = { process_id: 'other', argv: ['cat'], pipe_stdin: true, env: { X: '1' } };
    const { process } = await once(request);
    expect(await codeOf(once({ ...request, ...change }))).toBe('process_exists');
    expect(await backend.process.get('other')).toMatchObject({ state: 'running', pid: process.pid });
  });

  it('a plain start of an id in use is refused, also when it is the same request', async () => {
    const request = { process_id: 'plain', argv: ['cat'], pipe_stdin: true };
    await backend.process.start(request);
    expect(await codeOf(backend.process.start(request))).toBe('process_exists');
    expect(await once(request)).toMatchObject({ created: false });
  });

  it('50 start-once at the same time run the command once', async () => {
    const file = join(backend.dir, 'ran');
    const request = { process_id: 'fifty', argv: ['sh', '-c', `echo ran >> '${file}'`] };
    const started = await Promise.all(Array.from({ length: 50 }, () => once(request)));
    expect(started.filter(({ created }) => created)).toHaveLength(1);
    expect(new Set(started.map(({ process }) => process.pid)).size).toBe(1);
    await readAll(backend.process, 'fifty');
    expect(readFileSync(file, 'utf8')).toBe('ran\n');
  });

  it('a start-once that was refused leaves the id free', async () => {
    expect(await codeOf(once({ process_id: 'free', argv: ['no-such-cmd-x'] }))).toBe('command_not_found');
    expect(await codeOf(backend.process.get('free'))).toBe('process_not_found');
    expect(await once({ process_id: 'free', argv: ['true'] })).toMatchObject({ created: true });
  });

  it('a start-once still finds its process when that has ended', async () => {
    const request = { process_id: 'ended', argv: ['sh', '-c', 'exit 4'] };
    await once(request);
    await readAll(backend.process, 'ended');
    const message = expect.stringMatching(/has ended, until DELETE .*purge=true/);
    expect(await errorOf(backend.process.start(request))).toMatchObject({ code: 'process_exists', message });
    expect(await once(request)).toMatchObject({ created: false, process: { state: 'closed', exit_code: 4 } });
  });

  it('the id of a process that was forgotten by its age stays spent, that of a purged one is free', async () => {
    const late = `late-${name}`;
    const request = { process_id: late, argv: ['true'] };
    await once(request);
    await readAll(backend.process, late);
    for (let i = 0; i < 5; i++) await readAll(backend.process, (await backend.start(['true'])).process_id);
    expect(await codeOf(backend.process.get(late))).toBe('process_not_found');
    expect(await codeOf(once(request))).toBe('process_exists');
    expect(await errorOf(backend.process.start(request))).toMatchObject({
      code: 'process_exists',
      message: expect.stringContaining('stays spent'),
    });

    const purged = { process_id: 'purged', argv: ['true'] };
    await once(purged);
    await backend.process.terminate('purged', { purge: true, wait_ms: MAX_WAIT_MS });
    expect(await codeOf(backend.process.get('purged'))).toBe('process_not_found');
    expect(await once(purged)).toMatchObject({ created: true });
  });

  it('without an id one is made up that sorts by age', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 3; i++) {
      ids.push((await backend.start(['true'])).process_id);
      // Ids of one millisecond have no order.
      await readAll(backend.process, ids.at(-1) as string);
    }
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(ids).toEqual([...ids].sort());
  });

  it.each(['a', 'A-z.0_9:x', '...', '-', 'x'.repeat(128), '_', ':'])('takes the id %j', async (process_id) => {
    const { process } = await once({ process_id, argv: ['echo', 'hi'] });
    expect(process.process_id).toBe(process_id);
    expect((await readAll(backend.process, process_id)).text()).toBe('hi\n');
  });
});

import { describe, expect, it } from 'vitest';
import type { ChangeEvent } from '../../src/protocol/index.js';
import { BACKENDS, useBackend } from '../support/backends.js';
import { codeOf, readAll, readUntil } from '../support/told.js';

const MIB = 1024 * 1024;

describe.each(BACKENDS)('%s', (name) => {
  describe('by number and size', () => {
    const backend = useBackend(name, { limits: { max_closed: 50, max_closed_bytes: 8 * MIB } });

    it('B51 many that ended are forgotten, the oldest first, and the one that runs never', async () => {
      await backend.sh('echo ready; cat', { process_id: 'long', pipe_stdin: true });
      await readUntil(backend.process, 'long', 'ready');
      const started: string[] = [];
      for (let round = 0; round < 6; round++) {
        const ids = await Promise.all(Array.from({ length: 25 }, async () => (await backend.start(['true'])).process_id));
        started.push(...ids);
        await Promise.all(ids.map((id) => readAll(backend.process, id)));
        const { processes } = await backend.process.list({ limit: 1000 });
        expect(processes.length).toBeLessThanOrEqual(51);
        expect(processes[0]).toMatchObject({ process_id: 'long', state: 'running' });
      }
      const kept = await backend.process.list({ limit: 1000 });
      expect(kept.processes).toHaveLength(51);
      expect(await codeOf(backend.process.get(started[0] as string))).toBe('process_not_found');
      expect(await backend.process.get(started.at(-1) as string)).toMatchObject({ state: 'closed' });
      await backend.process.write('long', Buffer.from('still here\n'), { eof: true });
      expect((await readAll(backend.process, 'long')).text()).toBe('ready\nstill here\n');
    });

    it('B51 the output of those that ended stays within its limit', async () => {
      const { process_id } = await backend.sh('echo first');
      await readAll(backend.process, process_id);
      let last = '';
      for (let i = 0; i < 16; i++) {
        const { process_id } = await backend.sh(`head -c ${MIB} /dev/zero`);
        expect((await readAll(backend.process, process_id)).bytes()).toHaveLength(MIB);
        last = process_id;
      }
      const { processes } = await backend.process.list({ limit: 1000 });
      expect(processes.reduce((bytes, { retained_bytes }) => bytes + retained_bytes, 0)).toBe(8 * MIB);
      expect(await codeOf(backend.process.read(process_id))).toBe('process_not_found');
      expect((await readAll(backend.process, last)).bytes()).toHaveLength(MIB);
    });
  });

  describe('by time', () => {
    const backend = useBackend(name, { limits: { retain_closed_ms: 400 } });

    it('a closed process is readable for its time, then it is gone, and whoever watches is told', async () => {
      const short = `short-${name}`;
      const gone = removed(short);
      await gone.ready;
      await backend.start(['cat'], { process_id: 'running', pipe_stdin: true });
      await backend.sh('echo hi', { process_id: short });
      expect((await readAll(backend.process, short)).text()).toBe('hi\n');
      const closed_at = Date.parse((await backend.process.get(short)).closed_at as string);
      await gone.told;
      expect(Date.now() - closed_at).toBeGreaterThanOrEqual(395);
      expect(await codeOf(backend.process.read(short))).toBe('process_not_found');
      expect(await codeOf(backend.process.start({ argv: ['true'], process_id: short }))).toBe('process_exists');
      expect((await backend.process.list()).processes).toMatchObject([{ process_id: 'running', state: 'running' }]);
    });

    /** Watches until a process is removed. */
    function removed(process_id: string) {
      const leave = new AbortController();
      const watching = backend.process.watch({}, { signal: leave.signal });
      const told = watching.then(async (batches) => {
        for await (const batch of batches) if (batch.some((change) => isRemoval(change, process_id))) break;
        leave.abort();
      });
      return { ready: watching, told };
    }

    const isRemoval = (change: ChangeEvent, process_id: string) => change.event === 'removed' && change.process_id === process_id;
  });
});

import { describe, expect, it } from 'vitest';
import { BACKENDS, useBackend } from '../support/backends.js';
import { readAll, readUntil } from '../support/told.js';

const NODE = process.execPath;
const HELD_BYTES = 64 * 1024 * 1024;
const BURNT_MS = 300;

/** Holds memory, burns processor time, says so, and ends with the first input. */
const BUSY = `
  const held = Buffer.alloc(${HELD_BYTES}, 1);
  while (process.cpuUsage().user < ${BURNT_MS * 1000});
  console.log('burnt');
  process.stdin.once('data', () => process.exit(held[0] - 1));
`;

describe.each([...BACKENDS, 'hosted' as const])('%s', (name) => {
  const backend = useBackend(name);

  it('what a process uses counts its children, also those that ended; what has ended uses nothing, and who does not ask is not told', async () => {
    const processes = backend.process;
    await backend.start(['true'], { process_id: 'ended' });
    await readAll(processes, 'ended');
    await backend.start(['cat'], { process_id: 'idle', pipe_stdin: true });
    const argv = ['sh', '-c', '"$0" -e "$1"; echo waited; exec cat', NODE, BUSY];
    await backend.start(argv, { process_id: 'busy', pipe_stdin: true });
    const usage = async () => (await processes.get('busy', { usage: true })).usage ?? { cpu_ms: -1, rss_bytes: -1 };
    const { after_seq } = await readUntil(processes, 'busy', 'burnt');
    const burnt = await usage();
    expect(burnt.rss_bytes).toBeGreaterThan(HELD_BYTES);
    expect(burnt.rss_bytes).toBeLessThan(32 * HELD_BYTES);
    expect(burnt.cpu_ms).toBeGreaterThan(BURNT_MS / 2);

    const [ended, idle, busy] = (await processes.list({ usage: true })).processes.map((listed) => listed.usage);
    expect(ended).toBeNull();
    expect(idle?.cpu_ms).toBeLessThan(burnt.cpu_ms);
    expect(idle?.rss_bytes).toBeGreaterThan(0);
    expect(idle?.rss_bytes).toBeLessThan(HELD_BYTES);
    expect(busy?.rss_bytes).toBeGreaterThan(HELD_BYTES);
    for (const listed of (await processes.list({ usage: false })).processes) expect(listed).not.toHaveProperty('usage');
    expect(await processes.get('busy')).not.toHaveProperty('usage');

    await processes.write('busy', Buffer.from('go on\n'));
    await readUntil(processes, 'busy', 'waited', { after_seq });
    const waited = await usage();
    expect(waited.rss_bytes).toBeLessThan(HELD_BYTES);
    expect(waited.cpu_ms).toBeGreaterThanOrEqual(burnt.cpu_ms);
    await processes.terminate('busy', { wait_ms: 20_000 });
    expect((await processes.get('busy', { usage: true })).usage).toBeNull();
  });
});

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isRunning, until } from '../support/proc.js';
import { findTmux, Tmux } from '../support/tmux.js';
import { RunScene } from './run-scene.js';
import { MAIN } from './spawn-cli.js';

/** How long a run may outlive its terminal, in milliseconds, and what a busy machine may add to that. */
const PROMISED_MS = 10_000;
const BUSY_MS = 3_000;

const scene = new RunScene();
const { gateway, processes } = scene;
let dir: string;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'terminal-gone-'));
});
afterAll(() => rmSync(dir, { recursive: true }));

describe.skipIf(findTmux() === null)('a run whose terminal goes away', () => {
  /** Has a command in the foreground of a terminal that goes away after `meanwhile`; gives the pid of the program, and how long it took to end. */
  async function outlives(script: string, meanwhile = () => {}, inside = (command: string) => command) {
    const file = join(dir, 'pid');
    rmSync(file, { force: true });
    const command = `sh -c 'echo $$ > ${file}; exec "$@"' sh '${process.execPath}' '${MAIN}' run -it -- sh -c '${script}'`;
    const tmux = new Tmux(inside(command), scene.environment());
    await tmux.shows('ready');
    const pid = Number(readFileSync(file, 'utf8'));
    meanwhile();
    const begun = performance.now();
    tmux[Symbol.dispose]();
    await until('it has ended', () => !isRunning(pid), PROMISED_MS + BUSY_MS);
    return { pid, took_ms: performance.now() - begun };
  }

  test('ends its process, though that ignores all that is polite, and ends with it', async () => {
    const { took_ms } = await outlives('trap "" HUP TERM INT; echo ready; while :; do sleep 0.1; done');
    const [process] = await processes();
    expect(process).toMatchObject({ signal: 'SIGKILL', reason: 'terminated' });
    expect(took_ms, 'it does not wait for the last moment').toBeLessThan(PROMISED_MS);
  });

  test('ends with it also when nobody tells it by a signal: its shell leads the session, and ignores that one', async () => {
    await outlives('echo ready; exec sleep 1000', undefined, (command) => `trap "" HUP; ${command}; :`);
    expect((await processes())[0]).toMatchObject({ reason: 'terminated' });
  });

  test('leaves after 10 s when its gateway does not answer', async () => {
    try {
      const { took_ms } = await outlives('echo ready; cat', () => process.kill(gateway.server.pid, 'SIGSTOP'));
      expect(took_ms, 'the gateway has had its time').toBeGreaterThan(PROMISED_MS - 1_000);
    } finally {
      process.kill(gateway.server.pid, 'SIGCONT');
    }
    // What it had asked for is done when the gateway is back.
    await until('its process has ended', async () => (await processes())[0]?.exited_at !== null);
  });
});

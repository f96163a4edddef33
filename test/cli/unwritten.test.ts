import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RunScene } from './run-scene.js';

const scene = new RunScene();
const { call, local, processes } = scene;
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'unwritten-'));
});

afterAll(() => rmSync(folder, { recursive: true }));

/** Lines that print; `$EG` is the program. */
const LINES = {
  'run, at once': '$EG run -- echo out',
  'run, at length': '$EG run -- yes',
  'run, a collected result': '$EG run --json -- echo out',
  'run, an id': '$EG run --detach -- true',
  logs: '$EG logs known',
  ps: '$EG ps --all',
  'wait, as JSON': '$EG wait --json known',
};

test.each(Object.entries(LINES))('what a full disk does not take is a failure, told in one line: %s', async (_, line) => {
  await call(['run', '--id', 'known', '--', 'echo', 'known']);
  const { code, stderr } = await local(`${line} > /dev/full`);
  expect(code).toBe(125);
  expect(stderr).toMatch(/^exec-gateway \w+: stdout cannot be written: ENOSPC: .*\. What was printed is not whole\. \[ENOSPC\]\n$/);
});

test('a help that cannot be written is a failure without a stack, and one that is not read whole is none', async () => {
  expect(await local('$EG run --help > /dev/full')).toMatchObject({ code: 125, stderr: '' });
  expect(await local('exec 3>&1; { $EG --version; echo "code $?" >&3; } | true')).toMatchObject({ stderr: '' });
});

test('a result of cp that cannot be written is a failure', async () => {
  const { code, stderr } = await local(`echo > ${folder}/one; $EG cp --json ${folder}/one :${folder}/two > /dev/full`);
  expect([code, stderr]).toEqual([1, 'exec-gateway cp: stdout cannot be written: ENOSPC: no space left on device, write.\n']);
});

test.each(['run -- head -c 5000 /dev/zero', 'cp :$0 -'])('what a file takes a part of is a failure too: %s', async (command) => {
  const file = join(folder, 'cut');
  const { code, stderr } = await local(
    `head -c 5000 /dev/zero > ${folder}/whole; set -- ${folder}/whole; ulimit -f 8; $EG ${command.replace('$0', '$1')} > ${file}`,
  );
  expect([code, statSync(file).size]).toEqual([command.startsWith('cp') ? 1 : 125, 4096]);
  expect(stderr).toMatch(/^exec-gateway \w+: .*EFBIG.*\n$/);
});

test('a process is told as by a pipe that nobody reads its stderr any more', async () => {
  const { stdout } = await local(`exec 3>&1; { $EG run -- sh -c 'yes >&2' 2>&1 >/dev/null; echo "code $?" >&3; } | head -n 1`);
  expect(stdout.toString()).toMatch(/^(y\n|code 141\n){2}$/);
  expect((await processes()).filter(({ state }) => state === 'running')).toEqual([]);
});

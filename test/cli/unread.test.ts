import { expect, test } from 'vitest';
import { RunScene } from './run-scene.js';

const scene = new RunScene();
const { call, local, prints } = scene;

test.each(['/', '/proc/self/mem'])('input that cannot be read is told, and makes a run fail, which has its EOF: < %s', async (path) => {
  const { code, stdout, stderr } = await local(`$EG run -i -- sh -c 'cat; echo end' < ${path}`);
  expect([code, stdout.toString()]).toEqual([125, 'end\n']);
  expect(stderr).toMatch(/^exec-gateway run: stdin cannot be read: .*\. It was ended there\.\n$/);
  expect((await local(`$EG run -i -- sh -c 'cat; exit 3' < ${path}`)).code).toBe(3);
});

test('a signal may be given by its number', async () => {
  await prints(['run', '--detach', '--id', 'numbered', '--', 'sleep', '60']);
  await prints(['kill', '-s', '9', 'numbered']);
  expect((await call(['wait', 'numbered'])).code).toBe(137);
  for (const none of ['99', 'FOO']) {
    expect(await call(['kill', '-s', none, 'numbered'])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^exec-gateway kill: .*No signal has this name or number/),
    });
  }
});

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ProcessGroup } from '../../src/process/process-group.js';
import { isRunning, until } from '../support/proc.js';

let child: ChildProcess;
let pid: number;

beforeEach(async () => {
  child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
  await once(child, 'spawn');
  pid = child.pid as number;
});
afterEach(async () => {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});

test('whoever has the number after the leader was reaped is somebody else, and never signalled', () => {
  const group = new ProcessGroup(pid);
  group.leaderReaped(); // it was not: so the number is that of another process, which leads a group and a session of its own
  expect(group.alive()).toBe(false);
  expect(group.sessionAlive()).toBe(false);
  expect(group.signal('SIGKILL')).toBe(false);
  expect(group.signalLeader('SIGKILL')).toBe(false);
  expect(group.signalForeground('SIGKILL')).toBe(false);
  expect(group.leaderIgnores('SIGTERM')).toBe(false);
  group.signalSession('SIGKILL');
  expect([isRunning(pid), child.signalCode]).toEqual([true, null]);
});

test('a group that was seen to be gone stays gone', async () => {
  const before = new ProcessGroup(pid);
  const reaped = once(child, 'exit').then(() => before.leaderReaped());
  expect(before.signal('SIGKILL')).toBe(true);
  await reaped;
  expect([before.alive(), before.signal('SIGKILL'), before.signalLeader('SIGKILL')]).toEqual([false, false, false]);
});

test('members are signalled as long as there are some, also without the leader', async () => {
  const shell = spawn('sh', ['-c', 'sleep 61 & echo $!'], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  const group = new ProcessGroup(shell.pid as number);
  const [line] = await once(shell.stdout, 'data');
  if (shell.exitCode === null) await once(shell, 'exit');
  group.leaderReaped();
  expect(group.alive()).toBe(true);
  expect(group.signal('SIGKILL')).toBe(true);
  await until('the member is gone', () => !isRunning(Number(line)));
  await until('the group is gone', () => !group.alive());
  expect(group.signal('SIGKILL')).toBe(false);
});

test('a session of somebody else, known by its number, is not touched when its leader has ended either', async () => {
  const argv = ['-c', 'set -m; sleep 61 & echo $!; read line'];
  const shell = spawn('bash', argv, { detached: true, stdio: ['pipe', 'pipe', 'ignore'] });
  const [line] = await once(shell.stdout, 'data');
  const group = new ProcessGroup(shell.pid as number);
  group.leaderReaped(); // it was not, as above
  expect(group.sessionAlive()).toBe(false);
  shell.stdin.end();
  await once(shell, 'exit');
  expect(group.sessionAlive()).toBe(false);
  group.signalSession('SIGKILL');
  expect(isRunning(Number(line))).toBe(true);
  process.kill(Number(line), 'SIGKILL');
});

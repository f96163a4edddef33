import { closeSync, fstatSync } from 'node:fs';
import { expect, it } from 'vitest';
import { type Native, native, type Started } from '../../src/process/native.js';
import { TerminalReader } from '../../src/process/terminal-reader.js';

/** Runs `echo bye` to its end on a terminal whose other side is then closed. */
async function endedTerminal(): Promise<number> {
  const { launch } = native as Native;
  let started: Started | undefined;
  await new Promise<void>((exited, failed) => {
    const told = (error: Error | undefined, all: Started) => {
      started = all;
      if (error) failed(error);
    };
    launch('/bin/echo', ['echo', 'bye'], [], '/', 2, 80, 24, told, () => exited());
  });
  const [, terminal, side] = started as Started;
  closeSync(side);
  return terminal;
}

it.each(['on a hang-up', 'when it is told to'])('a reader says that it lets go while the descriptor is still its own: %s', async (when) => {
  const fd = await endedTerminal();
  const own: boolean[] = [];
  let read = '';
  const tell = (bytes: Uint8Array) => {
    read += Buffer.from(bytes).toString();
  };
  const reader = new TerminalReader(fd, tell, () => own.push(fstatSync(fd).isCharacterDevice()));
  if (when === 'when it is told to') reader.destroy();
  await new Promise((resolve) => reader.on('close', resolve));
  expect(own).toEqual([true]);
  if (when === 'on a hang-up') expect(read).toBe('bye\r\n');
  expect(() => fstatSync(fd)).toThrow('EBADF');
});

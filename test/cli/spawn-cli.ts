import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The program as Node runs it. */
export const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: Buffer;
  stderr: string;
}

export interface SpawnCliOptions {
  env?: Record<string, string>;
  cwd?: string;
  /** What stdin holds; null leaves it open. Default: nothing. */
  input?: Uint8Array | null;
}

/** Starts the program, without the settings of whoever runs the tests; `ended` resolves when all it wrote is there. */
export function spawnCli(
  args: string[],
  { env = {}, cwd, input = new Uint8Array() }: SpawnCliOptions = {},
): {
  child: ChildProcess;
  ended: Promise<Ended>;
} {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('EXEC_GATEWAY_'));
  const child = spawn(process.execPath, [MAIN, ...args], { env: { ...Object.fromEntries(own), ...env }, cwd });
  const stdout: Buffer[] = [];
  let stderr = '';
  child.stdout.on('data', (bytes: Buffer) => stdout.push(bytes));
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdin.on('error', () => {}); // it may end before it has read all
  if (input !== null) child.stdin.end(input);
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, stdout: Buffer.concat(stdout), stderr }));
  return { child, ended };
}

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The program as Node runs it. */
export const MAIN = fileURLToPath(new URL('../../dist/cli/main.cjs', import.meta.url));

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
  child: ChildProcessWithoutNullStreams;
  ended: Promise<Ended>;
} {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('EXEC_GATEWAY_'));
  const child = spawn(process.execPath, [MAIN, ...args], { env: { ...Object.fromEntries(own), ...env }, cwd });
  child.stdin.on('error', () => {}); // it may end before it has read all
  if (input !== null) child.stdin.end(input);
  return { child, ended: ended(child) };
}

/** What a program that was started writes, and how it ends. */
export async function ended(child: ChildProcessWithoutNullStreams): Promise<Ended> {
  const stdout: Buffer[] = [];
  let stderr = '';
  child.stdout.on('data', (bytes: Buffer) => stdout.push(bytes));
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const [code, signal] = await once(child, 'close');
  return { code, signal, stdout: Buffer.concat(stdout), stderr };
}

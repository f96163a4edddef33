import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.cjs', import.meta.url));

/** Runs the program to its end; one that serves instead is killed after 5 s, and its status is null. */
export function runCli(args: string[], env: Record<string, string> = {}): { status: number | null; stdout: string; stderr: string } {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('EXEC_GATEWAY_'));
  const options = { env: { ...Object.fromEntries(own), ...env }, encoding: 'utf8', timeout: 5000, killSignal: 'SIGKILL' } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], options);
  return { status, stdout, stderr };
}

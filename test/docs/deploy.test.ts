import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Gateway } from '../../src/client/index.js';
import { spawnCli } from '../cli/spawn-cli.js';
import { freePort } from '../support/nginx.js';
import { isRunning, until } from '../support/proc.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const deployed = (name: string) => readFileSync(join(ROOT, 'deploy', name), 'utf8');

const dir = mkdtempSync(join(tmpdir(), 'deploy-'));
const bin = join(dir, 'bin');
const data = join(dir, 'data');
const token = 'a-token-that-is-long-enough';
const env = { PATH: `${bin}:${process.env.PATH}`, EXEC_GATEWAY_TOKEN: token };
const run = (...words: string[]) => spawnCli(words).ended;
const drain = () => run('drain', '--data-dir', data, '--wait', '0', '--grace', '0');
afterAll(() => rmSync(dir, { recursive: true }));

/** Lays the files out as the image has them; packages are those of this checkout. */
beforeAll(() => {
  const copies = [...deployed('Dockerfile').matchAll(/^COPY --from=build (.+) (\S+)$/gm)];
  expect(copies.length).toBeGreaterThan(3);
  for (const [, sources = '', target = ''] of copies) {
    for (const source of sources.split(' ')) {
      const from = source.replace('/src/', ROOT);
      const to = join(dir, target, target.endsWith('/') ? (source.split('/').at(-1) as string) : '');
      mkdirSync(dirname(to), { recursive: true });
      if (source === '/src/node_modules') symlinkSync(from, to);
      else cpSync(from, to, { recursive: true });
    }
  }
  const [, program = ''] = deployed('Dockerfile').match(/ln -s (\S+) \/usr\/local\/bin\/exec-gateway/) ?? [];
  mkdirSync(bin);
  symlinkSync(join(dir, program), join(bin, 'exec-gateway'));
});

describe('deploy/', () => {
  let shell: ChildProcess | null = null;
  afterAll(async () => {
    shell?.kill('SIGTERM');
    await drain();
  });

  test('the image and its pod: a gateway that crashed is started anew, its processes run on, and it is drained before its end', async () => {
    const script = /^ +- \|\n((?: {14}.*\n)+)/m.exec(deployed('kubernetes.yaml'))?.[1] ?? expect.unreachable();
    const port = await freePort();
    const here = script.replace(/0\.0\.0\.0:\d+/, `127.0.0.1:${port}`).replace('/data/gateway', data);
    shell = spawn('sh', ['-c', here], { env, stdio: 'ignore' });
    const ended = once(shell, 'close');
    const gateway = new Gateway({ url: `http://127.0.0.1:${port}`, token });
    const answers = () =>
      fetch(`http://127.0.0.1:${port}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    await until('the gateway is ready', answers, 30_000);
    const { process_id, pid } = await gateway.start(['sleep', '600']);
    const status = async () => JSON.parse((await run('status', '--json', '--data-dir', data)).stdout.toString());
    const { front_pid: first } = await status();
    process.kill(first, 'SIGKILL');
    await until('another gateway is ready', answers, 30_000);
    expect(await gateway.get(process_id)).toMatchObject({ state: 'running', pid });
    const { front_pid: second, host } = await status();

    expect(await drain()).toMatchObject({ code: 0 });
    shell.kill('SIGTERM');
    await ended;
    await until('nothing is left', () => [pid as number, second, host.pid].every((one) => !isRunning(one)));
  });

  test('the unit starts the program with flags that there are, and leaves its processes alone', async () => {
    const unit = deployed('exec-gateway.service');
    const [, words = ''] = /^ExecStart=\S+ serve (.*)$/m.exec(unit) ?? [];
    const { stdout } = await run('serve', '--help');
    const flags = words.split(' ').filter((word) => word.startsWith('--'));
    expect(flags).toContain('--data-dir');
    for (const flag of flags) expect(stdout.toString()).toContain(`${flag} <`);
    expect(unit).toContain('KillMode=process');
  });
});

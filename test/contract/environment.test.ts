import { describe, expect, it } from 'vitest';
import type { StartRequest } from '../../src/protocol/index.js';
import { BACKENDS_AND_LAUNCHERS, useBackend } from '../support/backends.js';
import { GatewayServer } from '../support/gateway-server.js';
import { commandLine } from '../support/proc.js';
import { readAll, readUntil } from '../support/told.js';

const SECRET = 'not-for-any-child';
const TOKEN = 'the-token-of-this-gateway';

const HOST_ENV = {
  EXEC_GATEWAY_TOKEN: TOKEN,
  EXEC_GATEWAY_MAX_CLOSED: '100',
  AWS_SECRET_ACCESS_KEY: SECRET,
  APP_ONE: 'one',
  APP_TWO: 'two',
  LANG: 'C.UTF-8',
  LC_TIME: 'C',
  TZ: 'UTC',
};

describe.each([...BACKENDS_AND_LAUNCHERS, 'hosted'] as const)('%s', (name) => {
  const backend = useBackend(name, { env: HOST_ENV, token: TOKEN });

  /** The variables a child has, as `env` prints them. */
  async function envOf(request: Omit<StartRequest, 'argv'>): Promise<Record<string, string>> {
    const { process_id } = await backend.start(['/usr/bin/env'], request);
    const told = await readAll(backend.process, process_id);
    expect(told.exit).toMatchObject({ exit_code: 0 });
    const lines = told.text().replaceAll('\r', '').trim().split('\n').filter(Boolean);
    const all = Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
    const { GATEWAY_PROCESS_MARK: mark, ...env } = all;
    expect(mark !== undefined).toBe(name === 'hosted'); // by which it is known after a crash of the host
    return env;
  }

  describe.each([false, true])('tty %s', (tty) => {
    const term = tty ? { TERM: 'xterm-256color' } : {};

    it.each<[string, Omit<StartRequest, 'argv'>]>([
      ['no env', {}],
      ['an env', { env: { A: '1' } }],
      ['an empty env', { env: {} }],
      ['inherit all', { env_policy: { inherit: 'all' } }],
    ])("B26 the gateway's own variables never reach a child: %s", async (_what, request) => {
      const env = await envOf({ tty, ...request });
      expect(Object.keys(env).filter((name) => name.startsWith('EXEC_GATEWAY_'))).toEqual([]);
      expect(Object.values(env)).not.toContain(TOKEN);
      expect(Object.values(env).includes(SECRET)).toBe(request.env_policy?.inherit === 'all');
    });

    it('B63 the base is the core of the environment, and env is laid over it', async () => {
      const core = { PATH: process.env.PATH, LANG: 'C.UTF-8', LC_TIME: 'C', TZ: 'UTC', TMPDIR: backend.dir };
      const plain = await envOf({ tty });
      expect(plain).toMatchObject({ ...core, ...term });
      expect(Object.keys(plain).filter((name) => /^(LINES|COLUMNS|APP_|AWS_)/.test(name))).toEqual([]);
      expect(await envOf({ tty, env: {} })).toEqual(plain);
      expect(await envOf({ tty, env: { A: '1', TZ: 'Asia/Tokyo' } })).toEqual({ ...plain, A: '1', TZ: 'Asia/Tokyo' });
      expect(await envOf({ tty, env: { TERM: 'dumb' } })).toEqual({ ...plain, TERM: 'dumb' });
    });

    it('B63 the program is looked for in the PATH that it will have', async () => {
      const { process_id } = await backend.start(['ls', '/'], { tty, env: { PATH: '/usr/bin:/bin' } });
      expect((await readAll(backend.process, process_id)).exit).toMatchObject({ exit_code: 0 });
      const found = await backend.sh('command -v ls', { tty, env: { A: '1' } });
      expect((await readAll(backend.process, found.process_id)).text().trim()).toMatch(/\/ls$/);
      const start = backend.process.start({ argv: ['ls', '/'], tty, env: { PATH: '/nowhere' } });
      await expect(start).rejects.toMatchObject({ code: 'command_not_found' });
    });

    it('a policy works in the order inherit, exclude, set, include_only, env', async () => {
      expect(await envOf({ tty, env_policy: { inherit: 'none' } })).toEqual(term);
      expect(await envOf({ tty, env_policy: { inherit: 'none', set: { B: '2' } }, env: { A: '1' } })).toEqual({ A: '1', B: '2', ...term });
      const all = await envOf({ tty, env_policy: { inherit: 'all', exclude: ['AWS_*', 'APP_?WO'] } });
      expect(all).toMatchObject({ APP_ONE: 'one', TZ: 'UTC' });
      expect(all).not.toHaveProperty('AWS_SECRET_ACCESS_KEY');
      expect(all).not.toHaveProperty('APP_TWO');
      const chosen = { inherit: 'all', exclude: ['APP_ONE'], set: { APP_ONE: 'set', OTHER: 'x' }, include_only: ['APP_*'] } as const;
      const kept = { ...chosen, exclude: [...chosen.exclude], include_only: [...chosen.include_only] };
      expect(await envOf({ tty, env_policy: kept, env: { LAST: 'y' } })).toEqual({
        APP_ONE: 'set',
        APP_TWO: 'two',
        LAST: 'y',
        ...term,
      });
    });

    it('values reach the child byte for byte', async () => {
      const value = 'a b=c "d" \'e\' $f `g` \\ ü 漢 😀';
      expect(await envOf({ tty, env: { A: value, EMPTY: '' } })).toMatchObject({ A: value, EMPTY: '' });
    });

    it('arguments reach the child one by one, and no shell is added', async () => {
      const args = ['', ' ', '*', '$HOME', '"', "'", '\\', 'ü漢😀', '-n', '; true'];
      const { process_id } = await backend.start(['printf', '[%s]', ...args], { tty });
      expect((await readAll(backend.process, process_id)).text()).toBe(args.map((arg) => `[${arg}]`).join(''));
    });

    it('arg0 is what the program sees as its name', async () => {
      const { process_id } = await backend.start(['sh', '-c', 'tr "\\0" "\\n" < /proc/$$/cmdline | head -n 1'], {
        tty,
        arg0: 'other name',
      });
      expect((await readAll(backend.process, process_id)).text().trim()).toBe('other name');
      expect(await backend.process.get(process_id)).toMatchObject({ argv: ['sh', '-c', expect.any(String)], arg0: 'other name' });
    });
  });

  it('B63 the size of the terminal is read from it, before and after a resize', async () => {
    const { process_id } = await backend.sh('tput cols; read x; tput cols; stty size', { tty: { cols: 91, rows: 33 } });
    const { after_seq } = await readUntil(backend.process, process_id, '91');
    await backend.process.resize(process_id, { cols: 132, rows: 50 });
    await backend.process.write(process_id, Buffer.from('\n'));
    const told = await readAll(backend.process, process_id, { after_seq });
    expect(told.text().trim().split(/\s+/)).toEqual(['132', '50', '132']);
  });
});

it('B26 the token is not among the arguments of the gateway', async () => {
  const server = await GatewayServer.start();
  expect(commandLine(server.pid)).toContain('serve');
  expect(commandLine(server.pid)).not.toContain(server.token);
  await server.stop();
});

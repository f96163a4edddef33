import { chmodSync, closeSync, copyFileSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { StartRequest } from '../../src/protocol/index.js';
import { BACKENDS_AND_LAUNCHERS, useBackend } from '../support/backends.js';
import { codeOf, errorOf, readAll, readUntil } from '../support/told.js';

const KIB = 1024;

describe.each(BACKENDS_AND_LAUNCHERS)('%s', (name) => {
  const backend = useBackend(name, { limits: { max_processes: 3 } });
  const path = (file: string) => join(backend.dir, file);

  afterEach(async () => {
    expect((await backend.process.list()).processes.filter(({ process_id }) => process_id === 'refused')).toEqual([]);
  });

  async function refusal(request: StartRequest) {
    const error = await errorOf(backend.process.start({ process_id: 'refused', ...request }));
    // Nothing is kept, and the same id starts something good.
    expect(await codeOf(backend.process.get('refused'))).toBe('process_not_found');
    await backend.process.start({ process_id: 'refused', argv: ['true'] });
    await backend.process.terminate('refused', { purge: true, wait_ms: 10_000 });
    return { code: error.code, status: error.status, field: error.fields.field, detail: error.message };
  }

  describe.each([false, true])('tty %s', (tty) => {
    it('B13 a program that is not there', async () => {
      const refused = { code: 'command_not_found', status: 422, field: 'argv[0]' };
      expect(await refusal({ argv: ['no-such-cmd-x'], tty })).toMatchObject(refused);
      expect(await refusal({ argv: ['/no/such/cmd'], tty })).toMatchObject(refused);
      expect(await refusal({ argv: ['./no-such-cmd-x'], tty, cwd: backend.dir })).toMatchObject(refused);
      expect(await refusal({ argv: ['ls -l'], tty })).toMatchObject(refused);
    });

    it('B13 a file without permission to execute, a directory', async () => {
      writeFileSync(path('plain.txt'), 'text', { mode: 0o644 });
      const refused = { code: 'permission_denied', status: 422, field: 'argv[0]' };
      expect(await refusal({ argv: [path('plain.txt')], tty })).toMatchObject(refused);
      expect(await refusal({ argv: ['./plain.txt'], tty, cwd: backend.dir })).toMatchObject(refused);
      expect(await refusal({ argv: [backend.dir], tty })).toMatchObject(refused);
    });

    it('B13 a script whose interpreter is missing', async () => {
      writeFileSync(path('script'), '#!/no/such/interpreter\n', { mode: 0o755 });
      expect(await refusal({ argv: [path('script')], tty })).toMatchObject({ code: 'command_not_found', status: 422 });
    });

    it('B18 what the system cannot pass is refused before anything is started', async () => {
      writeFileSync(path('file.txt'), 'text', { mode: 0o755 });
      const long = 'x'.repeat(200 * KIB);
      const refused = { code: 'argument_list_too_long', status: 422 };
      expect(await refusal({ argv: ['true', long], tty })).toMatchObject({ ...refused, field: 'argv[1]' });
      expect(await refusal({ argv: ['true'], env: { LONG: long }, tty })).toMatchObject({ ...refused, field: 'env.LONG' });
      const eightMib = Array.from({ length: 80 }, () => 'x'.repeat(100 * KIB));
      expect(await refusal({ argv: ['true', ...eightMib], tty })).toMatchObject(refused);
      expect(await refusal({ argv: [`${path('file.txt')}/x`], tty })).toMatchObject({ code: 'command_not_found', status: 422 });
      const { process_id } = await backend.start(['echo', 'next'], { tty });
      expect((await readAll(backend.process, process_id)).text().trim()).toBe('next');
    });

    it.each<[string, Omit<StartRequest, 'argv'> & { argv?: string[] }, string]>([
      ['an argument', { argv: ['touch', 'a\0b'] }, 'argv[1]'],
      ['the program', { argv: ['tou\0ch'] }, 'argv[0]'],
      ['the name of a variable', { env: { 'A\0B': 'x' } }, 'env'],
      ['the value of a variable', { env: { A: 'x\0y' } }, 'env.A'],
      ['the working directory', { cwd: '/tmp\0/x' }, 'cwd'],
      ['arg0', { arg0: 'a\0b' }, 'arg0'],
    ])('B19 a NUL in %s is told with its field', async (_where, change, field) => {
      const refused = await refusal({ argv: ['touch', 'marker'], tty, ...change });
      expect(refused).toMatchObject({ code: 'invalid_argument', status: 400, field });
    });

    it('B34 a working directory that cannot be used is not blamed on the program', async () => {
      writeFileSync(path('file'), '', { mode: 0o644 });
      const blamed = (code: string) => ({ code, status: 422, field: 'cwd', detail: expect.not.stringContaining('"pwd"') });
      expect(await refusal({ argv: ['pwd'], cwd: path('missing'), tty })).toMatchObject(blamed('cwd_not_found'));
      expect(await refusal({ argv: ['pwd'], cwd: path('file'), tty })).toMatchObject(blamed('cwd_not_a_directory'));
      expect(await refusal({ argv: ['pwd'], cwd: path('file/below'), tty })).toMatchObject(blamed('cwd_not_a_directory'));
      const { process_id } = await backend.start(['pwd'], { cwd: backend.dir, tty });
      expect((await readAll(backend.process, process_id)).text().trim()).toBe(backend.dir);
    });
  });

  it('B34 a working directory that goes away meanwhile is never blamed on the program, nor another one taken', async () => {
    const flicker = path('flicker');
    const { process_id } = await backend.start([
      'python3',
      '-uc',
      `import os, time\nP = '${flicker}'\nprint('ready')\nwhile True:\n os.mkdir(P); time.sleep(5e-4); os.rmdir(P); time.sleep(5e-4)`,
    ]);
    await readUntil(backend.process, process_id, 'ready');
    const outcomes = new Set<string>();
    for (let i = 0; i < 300 || outcomes.size < 2; i++) {
      const started = await backend.process.start({ argv: ['/bin/pwd'], cwd: flicker }).catch((error) => error.code as string);
      outcomes.add(typeof started === 'string' ? started : await pwd(started.process.process_id));
    }
    const allowed = ['cwd_not_found', flicker, 'none'];
    expect([...outcomes].filter((outcome) => !allowed.includes(outcome))).toEqual([]);
  });

  /** Where a process ran; `none` when the directory was gone by the time it asked. */
  async function pwd(process_id: string): Promise<string> {
    const told = await readAll(backend.process, process_id);
    return told.exit?.exit_code === 0 ? told.text().trim() : 'none';
  }

  // node-pty tells nothing of an exec that fails.
  it.each(name === 'portable' ? [false] : [false, true])(
    'a program that is being written is busy, and starts afterwards, tty %s',
    async (tty) => {
      copyFileSync('/bin/true', path('written'));
      chmodSync(path('written'), 0o755);
      const writer = openSync(path('written'), 'r+');
      expect(await refusal({ argv: [path('written')], tty })).toMatchObject({ code: 'text_file_busy', status: 409 });
      closeSync(writer);
      const { process_id } = await backend.start([path('written')], { tty });
      expect((await readAll(backend.process, process_id)).exit).toMatchObject({ exit_code: 0 });
    },
  );

  it('as many processes as the limit says may be open, and one that ended makes room', async () => {
    for (const process_id of ['a', 'b', 'c']) await backend.start(['cat'], { process_id, pipe_stdin: true });
    const error = await errorOf(backend.process.start({ argv: ['true'] }));
    expect(error).toMatchObject({ code: 'too_many_processes', status: 429, fields: { limit: 3 } });
    expect(await codeOf(backend.process.run({ argv: ['true'] }))).toBe('too_many_processes');
    await backend.process.write('b', new Uint8Array(), { eof: true });
    await readAll(backend.process, 'b');
    expect(await backend.start(['cat'], { pipe_stdin: true })).toMatchObject({ state: 'running' });
  });
});

/** Root may enter every directory, so there a gateway without that power is asked. */
const prefix = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search', '--'] : [];

describe.each(['remote', 'proxied'] as const)('%s, without the power of root', (name) => {
  const backend = useBackend(name, { prefix });

  it.each([false, true])('B34 a working directory that may not be entered, tty %s', async (tty) => {
    const locked = join(backend.dir, `locked-${tty}`);
    mkdirSync(locked);
    chmodSync(locked, 0o600);
    const error = await errorOf(backend.process.start({ argv: ['pwd'], cwd: locked, tty }));
    expect(error).toMatchObject({ code: 'cwd_permission_denied', status: 422, fields: { field: 'cwd' } });
    expect(await backend.process.list()).toMatchObject({ processes: [] });
    chmodSync(locked, 0o700);
  });
});

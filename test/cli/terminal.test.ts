import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CuttingProxy } from '../support/cutting-proxy.js';
import { until } from '../support/proc.js';
import { findTmux, Tmux } from '../support/tmux.js';
import { RunScene } from './run-scene.js';
import { MAIN } from './spawn-cli.js';

const scene = new RunScene({ flags: ['--allow-host', '127.0.0.1'] });
const { gateway, processes } = scene;
const CLI = `'${process.execPath}' '${MAIN}'`;
let dir: string;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'terminal-'));
});
afterAll(() => rmSync(dir, { recursive: true }));

/** A shell line in a terminal; after its end the state of the terminal is shown. */
const terminal = (line: string, env: Record<string, string> = {}) =>
  new Tmux(`${line}; echo "left with $?"; stty -a | grep -o -- '-\\?icanon\\|-\\?echo '; exec cat`, { ...scene.environment(), ...env });

const bash = (flags = '') => `${CLI} run -it ${flags} --env PS1=' there> ' -- bash --norc --noprofile`;

/** What a terminal shows when its modes are those of a shell. */
const WHOLE = /left with \d+\nicanon\necho/;

describe.skipIf(findTmux() === null)('on a terminal', () => {
  test('a shell is used as one that runs here, Ctrl-C and Ctrl-Z too', async () => {
    using tmux = terminal(bash());
    await tmux.shows('there>');
    tmux.keys('tty && echo $TERM', 'Enter');
    await tmux.shows(/\/dev\/pts\/\d+\n\S+/);
    // Each job itself tells that it runs: before that, Ctrl-C is the shell's, and throws away what was typed and not read yet.
    tmux.keys("sh -c 'echo $((1 + 1)); exec sleep 100'", 'Enter');
    await tmux.shows(/^2$/m);
    tmux.keys('C-c');
    await tmux.shows(/^\^C\n there>/m);
    // A shell that starts another program in this moment cannot be stopped: it waits for a program that is (vfork(2)).
    const heeds = 'from signal import *; signal(SIGINT, SIG_DFL); signal(SIGCONT, lambda *_: print("on", flush=True))';
    tmux.keys(`python3 -c '${heeds}; print(1 + 2, flush=True); [pause() for _ in iter(int, 1)]'`, 'Enter');
    await tmux.shows(/^3$/m);
    tmux.keys('C-z');
    await tmux.shows(/Stopped +python3 -c/);
    tmux.keys('fg', 'Enter');
    await tmux.shows(/^on$/m);
    tmux.keys('C-c');
    await tmux.shows(/^on\n\^C\n there>/m);
    tmux.keys('exit 5', 'Enter');
    expect(await tmux.shows(WHOLE)).toContain('left with 5');
  });

  test('the size is that of the terminal, also when it changes', async () => {
    using tmux = terminal(bash());
    await tmux.shows('there>');
    tmux.keys('stty size', 'Enter');
    await tmux.shows('24 80');
    tmux.resize(100, 30);
    await until('it has the new size', async () => (await processes())[0]?.tty?.cols === 100);
    tmux.keys('clear; stty size', 'Enter');
    await tmux.shows('30 100');
    tmux.keys('exit', 'Enter');
    expect(await tmux.shows(WHOLE)).toContain('left with 0');
  });

  test('an editor paints the whole screen, and leaves it', async () => {
    using tmux = terminal(`${CLI} run -it --cwd ${dir} -- vim -u NONE -N text`);
    await tmux.shows(/^~$/m);
    tmux.keys('i');
    tmux.type('what is written');
    tmux.keys('Escape', ':wq', 'Enter');
    expect(await tmux.shows(WHOLE)).not.toMatch(/^~$/m);
    expect(readFileSync(join(dir, 'text'), 'utf8')).toBe('what is written\n');
  });

  test('an editor paints anew when the size changes', async () => {
    using tmux = terminal(`${CLI} run -it --cwd ${dir} -- vim -u NONE -N none`);
    await tmux.shows(/(^~$\n?){22}/m);
    tmux.resize(100, 30);
    await tmux.shows(/(^~$\n?){28}/m);
    tmux.keys(':q!', 'Enter');
    expect(await tmux.shows(WHOLE)).toContain('left with 0');
  });

  test('a paste of 1 MB arrives whole', async () => {
    const text = `${randomBytes(750_000).toString('base64').replace(/.{76}/g, '$&\n')}\n`;
    writeFileSync(join(dir, 'pasted'), text);
    using tmux = terminal(
      `${CLI} run -it --cwd ${dir} -- sh -c 'stty raw -echo; echo ready; head -c ${text.length} > got; stty sane; echo done'`,
    );
    await tmux.shows('ready');
    tmux.paste(join(dir, 'pasted'));
    await tmux.shows(WHOLE);
    expect(readFileSync(join(dir, 'got'), 'utf8') === text).toBe(true);
  });

  test('a connection that breaks is taken up, and nothing typed is lost or comes twice', async () => {
    // The stream of events is the second connection at the latest; each of the first few is cut after some bytes.
    await using line = await CuttingProxy.open(gateway.server.url, (count) => (count < 6 ? 3_000 : null));
    using tmux = terminal(`${CLI} run -it --cwd ${dir} -- cat`, { EXEC_GATEWAY_URL: line.url });
    await until('it runs', async () => (await processes()).length === 1);
    for (let i = 0; i < 60; i++) {
      tmux.keys(`line${i}x`, 'Enter');
      await tmux.shows(new RegExp(`line${i}x[\\s\\S]*line${i}x`));
    }
    expect(line.cuts).toBeGreaterThan(1);
    tmux.keys('C-d');
    await tmux.shows(WHOLE);
    const [process] = await processes();
    expect(process?.stdin.accepted_bytes).toBe(Array.from({ length: 60 }, (_, i) => `line${i}x\r`).join('').length + 1);
  });

  test.each<[string, string[], number]>([
    ['Ctrl-C', ['C-c'], 130],
    ['the detach keys', ['C-p', 'C-q'], 0],
  ])('while the connection is lost, %s leave the process running, and what was typed is not sent', async (_name, keys, code) => {
    await using line = await CuttingProxy.open(gateway.server.url, () => null);
    using tmux = terminal(bash(), { EXEC_GATEWAY_URL: line.url });
    await tmux.shows('there>');
    await line[Symbol.asyncDispose]();
    await tmux.shows(/trying again… \(Ctrl-C or ctrl-p/);
    tmux.keys('exit', 'Enter', ...keys);
    const screen = (await tmux.shows(WHOLE)).replaceAll('\n', ''); // its lines are longer than those of the terminal
    expect(screen).toMatch(new RegExp(`it goes on as (\\w+): exec-gateway attach \\1left with ${code}icanon`));
    expect((await processes())[0]).toMatchObject({ state: 'running', stdin: { accepted_bytes: 0 } });
  });

  test('an end by a signal is told as a shell tells it', async () => {
    using tmux = terminal(`${CLI} run -it -- sh -c 'kill -KILL $$'`);
    expect(await tmux.shows(WHOLE)).toContain('left with 137');
  });

  test('SIGTERM ends the process, and leaves the terminal whole', async () => {
    using tmux = terminal(`exec 3>${dir}/pid; sh -c 'echo $$ >&3; exec "$@"' sh ${bash()}`);
    await tmux.shows('there>');
    process.kill(Number(readFileSync(join(dir, 'pid'), 'utf8')), 'SIGTERM');
    expect(await tmux.shows(WHOLE)).toContain('left with 143');
    await until('it has ended', async () => (await processes())[0]?.exited_at !== null);
    expect((await processes())[0]?.reason).toBe('terminated');
  });

  test('Ctrl-C without a terminal there is passed on, Ctrl-Z stops both', async () => {
    using tmux = new Tmux("PS1='here> ' bash --norc --noprofile", scene.environment());
    await tmux.shows('here>');
    tmux.keys(`${CLI} run -- sh -c 'echo ready; while :; do sleep 0.05; done'; echo "code $?"`, 'Enter');
    await tmux.shows(/^ready/m);
    tmux.keys('C-z');
    await tmux.shows('Stopped');
    const pid = (await processes())[0]?.pid as number;
    await until('it is stopped', () => scene.isStopped(pid));
    tmux.keys('fg', 'Enter');
    await until('it goes on', () => !scene.isStopped(pid));
    tmux.keys('C-c');
    await until('it has ended', async () => (await processes())[0]?.exited_at !== null);
    expect((await processes())[0]?.exit_code).toBe(130);
    tmux.keys('exit', 'Enter');
  });

  test('attach shows what there is, takes keys, and leaves by its keys', async () => {
    const { process_id } = await gateway.start(['sh', '-c', 'echo first; read a; echo "<$a>"; read b; exit 3'], { tty: true });
    using tmux = terminal(`${CLI} attach ${process_id}`);
    await tmux.shows('first');
    tmux.keys('word', 'Enter');
    await tmux.shows('<word>');
    tmux.keys('C-p', 'C-q');
    expect(await tmux.shows(WHOLE)).toMatch(new RegExp(`it goes on as ${process_id}[\\s\\S]*left with 0`));
    using again = terminal(`${CLI} attach ${process_id} --detach-keys 'ctrl-]'`);
    await again.shows('<word>');
    again.keys('C-p', 'Enter');
    expect(await again.shows(WHOLE)).toContain('left with 3');
  });

  test('what is typed right before the detach keys still reaches the process', async () => {
    const program = `echo there; read a; echo "$a" > ${dir}/typed; exec sleep 60`;
    using tmux = terminal(`${CLI} run -it -- sh -c '${program}'`);
    await tmux.shows('there');
    tmux.keys('a word', 'Enter', 'C-p', 'C-q');
    expect(await tmux.shows(WHOLE)).toContain('left with 0');
    await until('it is there', () => existsSync(join(dir, 'typed')) && readFileSync(join(dir, 'typed'), 'utf8') === 'a word\n');
  });

  test('attach leaves the screen as it was when it leaves an editor', async () => {
    const { process_id } = await gateway.start(['vim', '-u', 'NONE', '-N'], { tty: true });
    using tmux = terminal(`${CLI} attach ${process_id}`);
    await tmux.shows(/^~$/m);
    tmux.keys('C-p', 'C-q');
    expect(await tmux.shows(WHOLE)).not.toMatch(/^~$/m);
  });

  test('attach --read-only takes the keys that leave it, Ctrl-C too, and no other', async () => {
    const { process_id } = await gateway.start(['sh', '-c', 'echo ready; cat'], { tty: true });
    using tmux = terminal(`${CLI} attach --read-only ${process_id}`);
    await tmux.shows('ready');
    tmux.keys('typed', 'Enter', 'C-p', 'C-q');
    await tmux.shows(WHOLE);
    using again = terminal(`${CLI} attach --read-only ${process_id}`);
    await again.shows('ready');
    again.keys('C-c');
    expect(await again.shows(WHOLE)).toContain('left with 0');
    expect((await processes())[0]).toMatchObject({ state: 'running', stdin: { accepted_bytes: 0 }, tty: { cols: 80, rows: 24 } });
  });
});

test('a terminal of its own does without one here', async () => {
  const { code, stdout } = await scene.call(['run', '-t', '--', 'sh', '-c', 'test -t 1 && stty size']);
  expect([code, stdout.toString()]).toEqual([0, '24 80\r\n']);
});

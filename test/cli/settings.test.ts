import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommanderError } from 'commander';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type ServeOptions, serveCommand } from '../../src/cli/serve-options.js';
import { refuseUnknownVariables } from '../../src/cli/variables.js';
import { runCli } from './run-cli.js';

const TOKEN = 'a-token-that-is-long-enough';
let dir: string;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'settings-'));
  const file = (name: string, text: string) => writeFileSync(join(dir, name), text);
  file('token', `${TOKEN}\n`);
  file('short', 'short\n');
  file('empty', '\n');
  file('spaced', 'a token with spaces in it\n');
  file('regular', 'a file that is no socket');
  for (const [name, format] of [
    ['newer', '2\n'],
    ['other', 'photos'],
  ] as const) {
    mkdirSync(join(dir, name), { mode: 0o700 });
    file(`${name}/format`, format);
  }
});
afterAll(() => rmSync(dir, { recursive: true }));

afterEach(() => {
  for (const { envVar } of serveCommand().options) if (envVar !== undefined) delete process.env[envVar];
});

type Bad = [name: string, args: string[], env: Record<string, string>, says: RegExp];

/** Values that are refused when they are read: what is given, by flags or variables, and what the line says. */
const BAD_VALUES: Bad[] = [
  ['an argument', ['extra'], {}, /too many arguments/],
  ['a flag without its value', ['--listen'], {}, /argument missing/],
  ['a fraction', ['--max-closed', '1.5'], {}, /whole number/],
  ['a negative number', ['--max-processes=-1'], {}, /from 1 to/],
  ['no processes at all', ['--max-processes', '0'], {}, /from 1 to/],
  ['a number that is too large', ['--retain-bytes', '999999999999'], {}, /from 1 to 268435456/],
  ['another notation', ['--heartbeat-ms', '1e3'], {}, /whole number/],
  ['a heartbeat of 0', ['--heartbeat-ms', '0'], {}, /from 10 to/],
  ['a grace beyond the shutdown', ['--shutdown-grace-ms', '60000'], {}, /from 0 to 5000/],
  ['a log level that is not known', ['--log-level', 'loud'], {}, /silent, fatal, error, warn, info, debug, trace/],
  ['a port alone', ['--listen', '8787'], {}, /HOST:PORT/],
  ['a port that is too large', ['--listen', '127.0.0.1:70000'], {}, /HOST:PORT/],
  ['a URL to listen on', ['--listen', 'http://127.0.0.1:1'], {}, /HOST:PORT/],
  ['IPv6 without brackets', ['--listen', '::1:8787'], {}, /\[::1\]:8787/],
  ['a socket without a path', ['--listen', 'unix:'], {}, /unix:PATH/],
  ['an address by variable', [], { EXEC_GATEWAY_LISTEN: 'here' }, /EXEC_GATEWAY_LISTEN.*HOST:PORT/],
  ['a host with a scheme', ['--allow-host', 'https://gate.example'], {}, /without a scheme/],
  ['every host', ['--allow-host', '*'], {}, /NAME or NAME:PORT/],
  ['an origin with a path', ['--allow-origin', 'https://dash.example/'], {}, /without a path/],
  ['an origin without a scheme', ['--allow-origin', 'dash.example'], {}, /scheme, name/],
  ['every origin', ['--allow-origin', '*'], {}, /as a browser writes it/],
  ['an origin with the usual port', ['--allow-origin', 'https://dash.example:443'], {}, /unless it is the usual one/],
  ['a confinement by another word', ['--confine-cwd', 'maybe'], {}, /true or false/],
  ['a confinement by variable, by another word', [], { EXEC_GATEWAY_CONFINE_CWD: '1' }, /EXEC_GATEWAY_CONFINE_CWD.*true or false/],
  ['a transcript that is too small for one write', ['--transcript-bytes', '1000'], {}, /from 1048576 to/],
  ['a negative size of files', ['--max-file-bytes=-1'], {}, /from 0 to/],
  ['an upstream that is no URL', ['--upstream', 'gate.example:1'], {}, /http: or https:/],
];

/** Settings that the program itself refuses, some of the former among them. */
const BAD: Bad[] = [
  ['a flag that is not known', ['--max-clsoed', '1'], {}, /unknown option '--max-clsoed'/],
  ['a file root that is not there', ['--fs-root', 'DIR/nowhere'], {}, /--fs-root: .*nowhere.* does not exist/],
  ['a file root that is a file', ['--fs-root', 'DIR/regular'], {}, /--fs-root: .*is not a directory/],
  [
    'a file root for files elsewhere',
    ['--fs-root', 'DIR', '--upstream', 'http://127.0.0.1:1'],
    {},
    /give them to the gateway at --upstream/,
  ],
  ['a data directory that is a file', ['--data-dir', 'DIR/regular'], {}, /--data-dir: The data directory .*regular.* cannot be used/],
  ['a data directory of a newer version', ['--data-dir', 'DIR/newer'], {}, /--data-dir: .* newer exec-gateway: its format is "2"/],
  ['a data directory of something else', ['--data-dir', 'DIR/other'], {}, /--data-dir: .* is not one of exec-gateway/],
  ['a data directory for processes elsewhere', ['--data-dir', 'DIR', '--upstream', 'http://127.0.0.1:1'], {}, /the gateway at --upstream/],
  ['a confinement to no root', ['--confine-cwd'], {}, /--confine-cwd .*--fs-root/],
  ['a variable that is spelled wrongly', [], { EXEC_GATEWAY_FS_ROTO: 'DIR' }, /EXEC_GATEWAY_FS_ROTO is no setting.*EXEC_GATEWAY_FS_ROOT /],
  ['a variable of a flag that has none', [], { EXEC_GATEWAY_NO_AUTH: 'true' }, /EXEC_GATEWAY_NO_AUTH is no setting/],
  ['text for a number', ['--max-closed', 'x'], {}, /from 0 to 1000000/],
  ['a name that does not exist', ['--listen', 'no-such-host.invalid:0', '--token-file', 'DIR/token'], {}, /Cannot listen on no-such-host/],
  ['an address of another machine', ['--listen', '192.0.2.1:0', '--token-file', 'DIR/token'], {}, /Cannot listen on 192\.0\.2\.1/],
  ['a file in place of the socket', ['--listen', 'unix:DIR/regular'], {}, /regular/],
  ['a directory that is not there', ['--listen', 'unix:DIR/none/socket'], {}, /its directory does not exist/],
  ['a socket path that is too long', ['--listen', `unix:/tmp/${'x'.repeat(120)}`], {}, /at most 107 bytes/],
  ['every address without a token', ['--listen', '0.0.0.0:0'], {}, /--token-file, or set EXEC_GATEWAY_TOKEN/],
  ['every IPv6 address without a token', ['--listen', '[::]:0'], {}, /needs a token/],
  ['a name without a token', ['--listen', 'gate.example:0'], {}, /needs a token/],
  ['no auth on what only looks like loopback', ['--no-auth', '--listen', '127.999.1.1:0'], {}, /only for loopback/],
  ['no auth on every address', ['--no-auth', '--listen', '0.0.0.0:0'], {}, /only for loopback/],
  ['no auth and a token', ['--no-auth', '--token-file', 'DIR/token'], {}, /contradict/],
  ['a token file that is not there', ['--token-file', 'DIR/none'], {}, /--token-file: .*none does not exist\.$/m],
  ['a token file that is a directory', ['--token-file', 'DIR'], {}, /--token-file: .* is a directory: give a file/],
  ['an empty token file', ['--token-file', 'DIR/empty'], {}, /at least 16/],
  ['a short token', ['--token-file', 'DIR/short'], {}, /5 characters: use at least 16/],
  ['a token with spaces', ['--token-file', 'DIR/spaced'], {}, /no header can carry/],
  ['a short token by variable', [], { EXEC_GATEWAY_TOKEN: 'short' }, /EXEC_GATEWAY_TOKEN holds a token of 5/],
  ['an empty token by variable', [], { EXEC_GATEWAY_TOKEN: '' }, /at least 16/],
  ['a token that is not ASCII', [], { EXEC_GATEWAY_TOKEN: 'ein-schlüssel-der-lang-ist' }, /no header can carry/],
  ['a number by variable', [], { EXEC_GATEWAY_MAX_CLOSED: 'x' }, /EXEC_GATEWAY_MAX_CLOSED.*from 0 to/],
  ['an upstream token without an upstream', ['--upstream-token-file', 'DIR/token'], {}, /--upstream/],
  [
    'an upstream token file that is not there',
    ['--upstream', 'http://127.0.0.1:1', '--upstream-token-file', 'DIR/none'],
    {},
    /--upstream-token-file: .* does not exist/,
  ],
];

describe('a setting that cannot be used', () => {
  test.each(BAD)('%s is refused in a line, with exit code 2', (_name, args, env, says) => {
    const own = args.map((arg) => arg.replace('DIR', dir));
    const { status, stdout, stderr } = runCli(['serve', '--listen', '127.0.0.1:0', ...own], env);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(says);
    // Beside the one line there may be advice, in brackets.
    const lines = stderr.trimEnd().split('\n');
    expect(lines.filter((line) => !line.startsWith('('))).toHaveLength(1);
    expect(stderr).not.toMatch(/ {4}at |Error:|a-token-that/);
  });

  test.each(BAD_VALUES)('%s is refused as it is read', (_name, args, env, says) => {
    Object.assign(process.env, env);
    const lines: string[] = [];
    const command = serveCommand()
      .exitOverride()
      .configureOutput({ writeErr: (text) => void lines.push(text) });
    expect(() => command.parse(args, { from: 'user' })).toThrow(CommanderError);
    expect(lines).toEqual([expect.stringMatching(says)]);
    expect(lines[0]?.trimEnd()).not.toContain('\n');
  });

  test('a command that is not known, and none at all, are told what there is', () => {
    expect(runCli(['sevre'])).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining("unknown command 'sevre'") });
    expect(runCli([])).toMatchObject({ status: 2, stderr: expect.stringContaining('serve') });
  });
});

test('variables that belong to no flag, and those of a service of this name, are let pass', () => {
  const services = ['SERVICE_HOST', 'SERVICE_PORT', 'SERVICE_PORT_HTTP', 'PORT', 'PORT_8787_TCP', 'PORT_8787_TCP_ADDR', 'B_SERVICE_HOST'];
  const names = ['URL', 'LAUNCHER', 'TOKEN', 'LISTEN', ...services];
  const env = Object.fromEntries(names.map((name) => [`EXEC_GATEWAY_${name}`, 'x']));
  expect(() => refuseUnknownVariables(env)).not.toThrow();
});

describe('help', () => {
  test.each([[['--help']], [['serve', '--help']], [['help', 'serve']]])(
    '%j is for a person: on stdout, within 80 columns, exit code 0',
    (args) => {
      const { status, stdout, stderr } = runCli(args);
      expect([status, stderr]).toEqual([0, '']);
      for (const line of stdout.split('\n').slice(0, -2)) expect(line.length).toBeLessThanOrEqual(80);
      expect(stdout).toMatch(/^Usage: exec-gateway/);
    },
  );

  test('of serve has every flag with its unit or form, its default and its variable', () => {
    const text = runCli(['serve', '--help']).stdout.replaceAll(/\s+/g, ' ');
    for (const { flags, description, envVar, defaultValue } of serveCommand().options) {
      expect(text).toContain(`${flags} ${description}`.replaceAll(/\s+/g, ' '));
      if (envVar !== undefined) expect(text).toContain(`env: ${envVar}`);
      if (typeof defaultValue === 'number') expect(text).toContain(`default: ${defaultValue}`);
    }
  });

  test('the version is that of the package', () => {
    expect(runCli(['--version'])).toEqual({ status: 0, stdout: '0.1.0\n', stderr: '' });
  });
});

describe('variables', () => {
  const NAMES = serveCommand().options.flatMap(({ envVar, long }) => (envVar === undefined ? [] : [[long as string, envVar] as const]));
  /** A value for each flag that is not its default. */
  const VALUES: Record<string, string> = {
    '--listen': '[::1]:99',
    '--token-file': '/some/file',
    '--allow-host': 'a.example, b.example:1',
    '--allow-origin': 'https://a.example',
    '--upstream': 'http://127.0.0.1:1',
    '--upstream-token-file': '/other/file',
    '--fs-root': '/some/directory',
    '--confine-cwd': 'true',
    '--log-level': 'debug',
    '--shutdown-grace-ms': '17',
    '--transcript-bytes': '5000000',
    '--transcript-total-bytes': '6000000',
  };
  function parse(args: string[]): ServeOptions {
    return serveCommand().exitOverride().parse(args, { from: 'user' }).opts<ServeOptions>();
  }

  test.each(NAMES)('%s and %s mean the same', (flag, name) => {
    const value = VALUES[flag] ?? '4321';
    const standard = parse([]);
    const by_flag = parse([flag, value]);
    process.env[name] = value;
    expect(parse([])).toEqual(by_flag);
    expect(by_flag).not.toEqual(standard);
  });

  test('a flag wins over its variable, lists too', () => {
    process.env.EXEC_GATEWAY_MAX_CLOSED = '5';
    process.env.EXEC_GATEWAY_ALLOW_HOST = 'variable.example';
    expect(parse(['--max-closed', '6', '--allow-host', 'flag.example'])).toMatchObject({ maxClosed: 6, allowHost: ['flag.example'] });
  });

  test('lists are given by repetition, by commas, or both', () => {
    expect(parse(['--allow-host', 'a, b:1,', '--allow-host', '[::1]:2']).allowHost).toEqual(['a', 'b:1', '[::1]:2']);
    expect(parse(['--allow-origin', 'http://localhost:5173,app://host']).allowOrigin).toEqual(['http://localhost:5173', 'app://host']);
  });
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ProcessInfo } from '../../src/protocol/index.js';
import { CuttingProxy } from '../support/cutting-proxy.js';
import { GatewayServer } from '../support/gateway-server.js';
import { callFunction, type ModelItem, type ModelRequest, ModelStub, say } from '../support/model-stub.js';
import { until } from '../support/proc.js';
import { HAS_BUBBLEWRAP } from './use-sandbox.js';

const CODEX = process.env.CODEX_PATH ?? 'codex';

let top = '';
let gateway: GatewayServer;

beforeEach(async () => {
  top = mkdtempSync(join(tmpdir(), 'codex-real-'));
  for (const name of ['home', 'work']) mkdirSync(join(top, name));
  // Through the proxy, Host has its port.
  gateway = await GatewayServer.start({ flags: ['--allow-host', '127.0.0.1'] });
});
afterEach(async () => {
  await gateway.stop();
  rmSync(top, { recursive: true, force: true });
});

const work = (name = '') => join(top, 'work', name);

/** Runs `codex exec` whose only environment is the gateway, and whose model follows the script. */
async function codexExec(
  script: ((request: ModelRequest) => ModelItem | Promise<ModelItem>)[],
  { url = gateway.url, sandbox = 'danger-full-access' } = {},
): Promise<ModelStub> {
  const model = await ModelStub.open(script);
  writeFileSync(
    join(top, 'home/config.toml'),
    `model = "gpt-5.5"\nmodel_provider = "stub"\napproval_policy = "never"\nsandbox_mode = "${sandbox}"\n` +
      '[sandbox_workspace_write]\nexclude_slash_tmp = true\nexclude_tmpdir_env_var = true\n' +
      `[model_providers.stub]\nname = "stub"\nbase_url = "${model.url}"\nwire_api = "responses"\nrequires_openai_auth = false\n`,
  );
  writeFileSync(
    join(top, 'home/environments.toml'),
    `default = "box"\ninclude_local = false\n[[environments]]\nid = "box"\nurl = "${url.replace('http', 'ws')}/exec-server"\n` +
      `auth_bearer_token = "${gateway.token}"\n`,
  );
  const child = spawn(CODEX, ['exec', '--skip-git-repo-check', '-C', work(), 'go'], {
    env: { PATH: process.env.PATH, HOME: top, CODEX_HOME: join(top, 'home') },
    cwd: work(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text));
  const [code] = await once(child, 'close');
  expect(code, said).toBe(0);
  return model;
}

async function processes(): Promise<ProcessInfo[]> {
  return ((await (await gateway.fetch('/processes')).json()) as { processes: ProcessInfo[] }).processes;
}

test('a command runs here, and its output reaches the model', async () => {
  await using model = await codexExec([
    () => callFunction('one', 'exec_command', { cmd: 'echo from-$((40 + 2)); pwd' }),
    () => say('done'),
  ]);
  expect(model.outputOf('one')).toContain('from-42');
  expect(model.outputOf('one')).toContain(work());
  const [shown] = await processes();
  expect(shown?.labels.codex_process).toBeDefined();
  expect(shown?.state).toBe('closed');
});

test('a long command is written to until it ends', async () => {
  await using model = await codexExec([
    () => callFunction('start', 'exec_command', { cmd: 'read line; echo "got: $line"', tty: true, yield_time_ms: 500 }),
    (request) => {
      const text = String(request.input.find((item) => item.call_id === 'start' && item.type.endsWith('_output'))?.output);
      const session_id = Number(/session ID (\d+)/i.exec(text)?.[1]);
      return callFunction('write', 'write_stdin', { session_id, chars: 'hello gateway\n', yield_time_ms: 2000 });
    },
    () => say('done'),
  ]);
  expect(model.outputOf('write')).toContain('got: hello gateway');
});

/** The call of the tool that patches, in the form that is offered. */
const patch =
  (call_id: string, text: string) =>
  ({ tools }: ModelRequest): ModelItem => {
    const input = `*** Begin Patch\n${text}*** End Patch\n`;
    const custom = tools.some(({ name, type }) => name === 'apply_patch' && type === 'custom');
    return custom ? { type: 'custom_tool_call', call_id, name: 'apply_patch', input } : callFunction(call_id, 'apply_patch', { input });
  };

test('a patch changes files and adds one', async () => {
  writeFileSync(work('old.txt'), 'one\ntwo\n');
  const text = '*** Update File: old.txt\n@@\n one\n-two\n+three\n*** Add File: new.txt\n+added\n';
  await using model = await codexExec([patch('patch', text), () => say('done')]);
  expect(model.outputOf('patch')).toContain('Success');
  expect(readFileSync(work('old.txt'), 'utf8')).toBe('one\nthree\n');
  expect(readFileSync(work('new.txt'), 'utf8')).toBe('added\n');
});

test('workspace-write: commands and patches change the directory, and nothing around it', async () => {
  mkdirSync(work('.git'));
  writeFileSync(work('old.txt'), 'one\n');
  const text = '*** Update File: old.txt\n@@\n-one\n+two\n*** Add File: new.txt\n+added\n';
  await using model = await codexExec(
    [
      () => callFunction('in', 'exec_command', { cmd: 'echo in > in.txt; cat in.txt' }),
      () =>
        callFunction('out', 'exec_command', { cmd: 'echo x > ../out.txt; echo x > .git/config; exec 3<>/dev/tcp/127.0.0.1/1', tty: true }),
      patch('patch', text),
      () => say('done'),
    ],
    { sandbox: 'workspace-write' },
  );
  if (!HAS_BUBBLEWRAP) {
    for (const call of ['in', 'out', 'patch']) expect(model.outputOf(call)).toContain('cannot enforce a sandbox');
    return;
  }
  expect(model.outputOf('in')).toContain('in');
  expect(readFileSync(work('in.txt'), 'utf8')).toBe('in\n');
  expect(model.outputOf('out').match(/Read-only file system/g)).toHaveLength(2);
  expect(model.outputOf('out')).toContain('refused');
  expect(readdirSync(top).sort()).toEqual(['home', 'work']);
  expect(model.outputOf('patch')).toContain('Success');
  expect(readFileSync(work('old.txt'), 'utf8')).toBe('two\n');
  expect(readFileSync(work('new.txt'), 'utf8')).toBe('added\n');
});

test('read-only: commands read and change nothing', async () => {
  writeFileSync(work('old.txt'), 'one\n');
  await using model = await codexExec(
    [() => callFunction('call', 'exec_command', { cmd: 'cat old.txt; echo x > old.txt; echo x > new.txt' }), () => say('done')],
    { sandbox: 'read-only' },
  );
  if (HAS_BUBBLEWRAP) expect(model.outputOf('call').match(/one|Read-only file system/g)).toHaveLength(3);
  else expect(model.outputOf('call')).toContain('cannot enforce a sandbox');
  expect(readdirSync(work())).toEqual(['old.txt']);
  expect(readFileSync(work('old.txt'), 'utf8')).toBe('one\n');
});

test('a command outlives the connection that is cut in the middle of it', async () => {
  // The first connection carries the start and some output, and is cut; what comes later is longer than the cut allows.
  await using proxy = await CuttingProxy.open(gateway.url, (count) => (count === 0 ? 7_000 : null));
  const script = 'for i in $(seq 1 60); do echo "line $i of a command that goes on while its connection is gone"; sleep 0.05; done';
  await using model = await codexExec(
    [() => callFunction('long', 'exec_command', { cmd: script, yield_time_ms: 20_000, max_output_tokens: 20_000 }), () => say('done')],
    { url: proxy.url },
  );
  expect(proxy.cuts).toBeGreaterThan(0);
  const output = model.outputOf('long');
  for (let i = 1; i <= 60; i++) expect(output).toContain(`line ${i} of`);
  await until('every process is over', async () => (await processes()).every(({ state }) => state === 'closed'));
});

test('through a gateway in front of another, all runs on that one', async () => {
  const file = join(top, 'token');
  writeFileSync(file, gateway.token as string, { mode: 0o600 });
  const front = await GatewayServer.start({
    flags: ['--upstream', gateway.url, '--upstream-token-file', file],
    token: gateway.token,
  });
  try {
    const patch = '*** Begin Patch\n*** Add File: behind.txt\n+behind\n*** End Patch\n';
    await using model = await codexExec(
      [
        () => callFunction('one', 'exec_command', { cmd: `apply_patch <<'E'\n${patch}E\n` }),
        () => callFunction('two', 'exec_command', { cmd: 'cat behind.txt' }),
        () => say('done'),
      ],
      { url: front.url },
    );
    expect(model.outputOf('two')).toContain('behind');
    expect((await processes()).some(({ labels }) => labels.codex_process !== undefined)).toBe(true);
  } finally {
    await front.stop();
  }
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ProcessInfo } from '../../src/protocol/index.js';
import { CuttingProxy } from '../support/cutting-proxy.js';
import { GatewayServer } from '../support/gateway-server.js';
import { callFunction, type ModelItem, type ModelRequest, ModelStub, say } from '../support/model-stub.js';
import { until } from '../support/proc.js';

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
async function codexExec(script: ((request: ModelRequest) => ModelItem | Promise<ModelItem>)[], url = gateway.url): Promise<ModelStub> {
  const model = await ModelStub.open(script);
  writeFileSync(
    join(top, 'home/config.toml'),
    `model = "gpt-5.5"\nmodel_provider = "stub"\napproval_policy = "never"\nsandbox_mode = "danger-full-access"\n` +
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

test('a patch changes files and adds one', async () => {
  writeFileSync(work('old.txt'), 'one\ntwo\n');
  const patch = '*** Begin Patch\n*** Update File: old.txt\n@@\n one\n-two\n+three\n*** Add File: new.txt\n+added\n*** End Patch\n';
  await using model = await codexExec([
    ({ tools }) => {
      const custom = tools.some(({ name, type }) => name === 'apply_patch' && type === 'custom');
      return custom
        ? { type: 'custom_tool_call', call_id: 'patch', name: 'apply_patch', input: patch }
        : callFunction('patch', 'apply_patch', { input: patch });
    },
    () => say('done'),
  ]);
  expect(model.outputOf('patch')).toContain('Success');
  expect(readFileSync(work('old.txt'), 'utf8')).toBe('one\nthree\n');
  expect(readFileSync(work('new.txt'), 'utf8')).toBe('added\n');
});

test('a command outlives the connection that is cut in the middle of it', async () => {
  // The first connection carries the start and some output, and is cut; what comes later is longer than the cut allows.
  await using proxy = await CuttingProxy.open(gateway.url, (count) => (count === 0 ? 7_000 : null));
  const script = 'for i in $(seq 1 60); do echo "line $i of a command that goes on while its connection is gone"; sleep 0.05; done';
  await using model = await codexExec(
    [() => callFunction('long', 'exec_command', { cmd: script, yield_time_ms: 20_000, max_output_tokens: 20_000 }), () => say('done')],
    proxy.url,
  );
  expect(proxy.cuts).toBeGreaterThan(0);
  const output = model.outputOf('long');
  for (let i = 1; i <= 60; i++) expect(output).toContain(`line ${i} of`);
  await until('every process is over', async () => (await processes()).every(({ state }) => state === 'closed'));
});

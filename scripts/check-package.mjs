// Packs the package as it would be published, looks at what is in it, installs it elsewhere and uses it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';

const root = resolve(import.meta.dirname, '..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
/** The client in one file, made of others. */
const BUNDLE = 'dist/browser/client.js';
/** The dashboard in a few files, made of others. */
const DASHBOARD = 'dist/web/';
/** The command line in a few files, made of others, and the licenses of those that are not ours. */
const PROGRAM = 'dist/cli/';
const MADE_OF_OTHERS = [PROGRAM, DASHBOARD];
const scratch = mkdtempSync(join(tmpdir(), 'package-'));
const run = (command, args, cwd) => execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });

try {
  const [packed] = JSON.parse(run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', scratch], root));
  const tarball = join(scratch, packed.filename);
  checkFiles(packed.files.map(({ path }) => path));
  await checkManifest(tarball);
  useInstalled(tarball);
  console.log(`${packed.filename}: ${packed.entryCount} files, ${packed.unpackedSize} bytes; installs, imports and runs.`);
} finally {
  rmSync(scratch, { recursive: true });
}

/** Everything the manifest promises is there, and nothing built from a source that is gone. */
function checkFiles(files) {
  const targets = (value) => (typeof value === 'string' ? [value.replace('./', '')] : Object.values(value).flatMap(targets));
  const promised = [
    ...targets(manifest.exports),
    ...targets(manifest.bin),
    'LICENSE',
    'README.md',
    'CHANGELOG.md',
    'openapi.yaml',
    BUNDLE,
    `${PROGRAM}LICENSES.txt`,
    `${DASHBOARD}index.html`,
    `${DASHBOARD}LICENSES.txt`,
  ];
  for (const file of promised) assert(files.includes(file), `The package lacks ${file}.`);
  for (const file of files.filter(
    (name) => name.endsWith('.js') && name !== BUNDLE && !MADE_OF_OTHERS.some((folder) => name.startsWith(folder)),
  )) {
    const source = file.replace('dist/', 'src/').replace(/\.js$/, '.ts');
    assert(existsSync(join(root, source)), `${file} has no source: remove dist and build again.`);
  }
}

async function checkManifest(tarball) {
  const { buffer } = new Uint8Array(readFileSync(tarball));
  const { messages, pkg } = await publint({ strict: true, pack: { tarball: buffer } });
  assert.deepEqual(
    messages.map((message) => formatMessage(message, pkg)),
    [],
  );
}

function useInstalled(tarball) {
  const project = join(scratch, 'project');
  mkdirSync(project);
  const allowScripts = manifest.allowScripts;
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'consumer', private: true, type: 'module', allowScripts }));
  run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', tarball], project);

  const entries = Object.keys(manifest.exports).filter((entry) => !entry.endsWith('.json'));
  const names = entries.map((entry) => join(manifest.name, entry));
  const script = `for (const name of ${JSON.stringify(names)}) if (Object.keys(await import(name)).length === 0) throw new Error(name + ' exports nothing');`;
  run('node', ['--input-type=module', '--eval', script], project);

  writeFileSync(join(project, 'use.ts'), names.map((name, at) => `export * as entry${at} from '${name}';\n`).join(''));
  const strict = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022', '--skipLibCheck'];
  run(
    join(root, 'node_modules/.bin/tsc'),
    [...strict, '--types', 'node', '--typeRoots', join(root, 'node_modules/@types'), 'use.ts'],
    project,
  );

  const bin = join(project, 'node_modules/.bin', Object.keys(manifest.bin)[0]);
  assert.match(run(bin, ['--help'], project), /serve/);
  assert.equal(run(bin, ['--version'], project).trim(), manifest.version);
}

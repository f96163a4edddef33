import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const IMPORTS = 'lint/style/noRestrictedImports';

/** One file, one line in it, and the rules that must bite there. */
const CASES: [file: string, line: string, rules: string[]][] = [
  ['src/protocol/a.ts', "import '@sinclair/typebox';", []],
  ['src/protocol/b.ts', "import './a.js';", []],
  ['src/protocol/c.ts', "import '../process/a.js';", [IMPORTS]],
  ['src/protocol/d.ts', "import 'node:fs';", [IMPORTS, 'lint/correctness/noNodejsModules']],
  ['src/protocol/e.ts', "import 'fastify';", [IMPORTS]],
  ['src/protocol/f.ts', 'export const bytes = Buffer.alloc(1);', ['lint/style/noRestrictedGlobals']],
  ['src/protocol/g.ts', "export type Sneaky = import('../process/a.js').Child;", ['plugin']],
  ['src/client/a.ts', "import '../protocol/a.js';", []],
  ['src/client/b.ts', "import 'eventsource-parser/stream';", []],
  ['src/client/c.ts', "import '../process/a.js';", [IMPORTS]],
  ['src/client/d.ts', "export type { Child } from '../process/a.js';", [IMPORTS]],
  ['src/client/e.ts', "export const late = () => import('../process/a.js');", [IMPORTS]],
  ['src/client/f.ts', "import '../protocol/../process/a.js';", [IMPORTS]],
  ['src/client/g.ts', "import './../process/a.js';", [IMPORTS]],
  ['src/client/h.ts', "import 'node:stream';", [IMPORTS, 'lint/correctness/noNodejsModules']],
  ['src/client/i.ts', "import 'fast-check';", [IMPORTS]],
  ['src/client/j.ts', 'export const home = process.env.HOME;', ['lint/style/noRestrictedGlobals']],
  ['src/process/a.ts', "import 'node:fs/promises';", []],
  ['src/process/b.ts', "import '../protocol/a.js';", []],
  ['src/process/c.ts', "import 'node:http';", [IMPORTS]],
  ['src/process/d.ts', "import 'fastify';", [IMPORTS]],
  ['src/process/e.ts', "import '../routes/a.js';", [IMPORTS]],
  ['src/process/f.ts', "import '../client/a.js';", [IMPORTS]],
  ['src/process/g.ts', "import 'node-pty';", [IMPORTS]],
  ['src/process/pty-child.ts', "import 'node-pty';", []],
  ['src/process/h.ts', "import '@xterm/headless';", [IMPORTS]],
  ['src/process/xterm.ts', "import '@xterm/headless';", []],
  ['src/process/transcript/a.ts', "import 'node:fs/promises';", []],
  ['src/process/transcript/b.ts', "import './a.js';\nimport '../../protocol/a.js';", []],
  ['src/process/transcript/c.ts', "import '../a.js';", [IMPORTS]],
  ['src/process/transcript/d.ts', "import 'node:http';", [IMPORTS]],
  ['src/process/transcript/e.ts', "import '../../routes/a.js';", [IMPORTS]],
  ['src/process/i.ts', "import './transcript/a.js';", []],
  ['src/fs/a.ts', "import 'node:fs/promises';", []],
  ['src/fs/b.ts', "import '../protocol/a.js';", []],
  ['src/fs/c.ts', "import 'node:http';", [IMPORTS]],
  ['src/fs/d.ts', "import 'fastify';", [IMPORTS]],
  ['src/fs/s.ts', "import 're2js';", []],
  ['src/fs/e.ts', "import '../process/a.js';", [IMPORTS]],
  ['src/fs/f.ts', "import '../client/a.js';", [IMPORTS]],
  ['src/codex/a.ts', "import '../protocol/a.js';", []],
  ['src/codex/b.ts', "import 'node:http';", []],
  ['src/codex/c.ts', "import type { WebSocket } from 'ws';\nexport type Socket = WebSocket;", []],
  ['src/codex/d.ts', "import '../process/a.js';", [IMPORTS]],
  ['src/codex/e.ts', "import '../fs/a.js';", [IMPORTS]],
  ['src/codex/f.ts', "import 'fastify';", [IMPORTS]],
  ['src/codex/g.ts', "import 'node:child_process';", [IMPORTS]],
  ['src/host/a.ts', "import '../protocol/a.js';", []],
  ['src/host/b.ts', "import '../process/native.js';", []],
  ['src/host/c.ts', "import '../process/a.js';", [IMPORTS]],
  ['src/host/d.ts', "import 'node:http';", [IMPORTS]],
  ['src/host/e.ts', "import '../client/a.js';", [IMPORTS]],
  ['src/plugins/a.ts', "import 'fastify';", []],
  ['src/plugins/b.ts', "import '../protocol/a.js';", []],
  ['src/plugins/c.ts', "import '../routes/a.js';", [IMPORTS]],
  ['src/plugins/d.ts', "import '../process/a.js';", [IMPORTS]],
  ['src/plugins/e.ts', "import '../app.js';", [IMPORTS]],
  ['src/routes/a.ts', "import '../plugins/a.js';", []],
  ['src/routes/b.ts', "import '../protocol/a.js';", []],
  ['src/routes/c.ts', "import '../process/a.js';", [IMPORTS]],
  ['src/routes/d.ts', "import '../client/a.js';", [IMPORTS]],
  ['src/routes/e.ts', "import 'node:child_process';", [IMPORTS]],
  ['src/routes/f.ts', "import 'node-pty';", [IMPORTS]],
  ['src/app.ts', "import './process/a.js';", []],
  ['src/environment.ts', "import './client/a.js';", []],
  ['src/other.ts', "import './cli/a.js';", [IMPORTS]],
  ['src/cli/a.ts', "import '../app.js';", []],
  ['src/cli/b.ts', "import '../protocol/a.js';", []],
  ['src/cli/e.ts', "import '../client/a.js';", []],
  ['src/cli/f.ts', "import '../fs/a.js';", [IMPORTS]],
  ['src/cli/c.ts', "import '../process/a.js';", [IMPORTS]],
  ['src/cli/d.ts', "import '../routes/a.js';", [IMPORTS]],
  ['web/a.ts', "import '../src/client/index.js';", []],
  ['web/process/b.tsx', "import '../../src/protocol/a.js';", []],
  ['web/process/c.tsx', "import 'preact/hooks';", []],
  ['web/process/d.tsx', "import '../ui/a.js';", []],
  ['web/e.ts', "import '../src/client/a.js';", [IMPORTS]],
  ['web/f.ts', "import '../src/process/a.js';", [IMPORTS]],
  ['web/g.ts', "import '../src/app.js';", [IMPORTS]],
  ['web/process/h.ts', "import '../../src/routes/a.js';", [IMPORTS]],
  ['web/i.ts', "import 'node:fs';", [IMPORTS, 'lint/correctness/noNodejsModules']],
  ['web/j.ts', "import 'fastify';", [IMPORTS]],
  ['examples/a.ts', "import 'exec-gateway/client';", []],
  ['examples/b.ts', "import '../src/client/a.js';", [IMPORTS]],
  ['src/process/m.ts', "import './n.js';", ['lint/suspicious/noImportCycles']],
  ['src/process/n.ts', "import './m.js';", ['lint/suspicious/noImportCycles']],
  ['src/process/o.ts', "export * from './a.js';", ['lint/performance/noBarrelFile', 'lint/performance/noReExportAll']],
  ['src/process/p.ts', 'export const q: any = 1;', ['lint/suspicious/noExplicitAny']],
  ['src/process/r.ts', 'const s = async () => 1;\nexport const t = () => {\n  s();\n};', ['lint/nursery/noFloatingPromises']],
  ['src/process/CamelCase.ts', 'export const u = 1;', ['lint/style/useFilenamingConvention']],
  ['src/process/long.ts', `export const v = [\n${'  1,\n'.repeat(299)}];`, ['lint/style/noExcessiveLinesPerFile']],
];

const root = new URL('../../', import.meta.url).pathname;
const found = new Map<string, string[]>();
let scratch = '';

beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'layers-'));
  for (const name of ['biome.json', 'package.json', '.gitignore', 'scripts'])
    cpSync(join(root, name), join(scratch, name), { recursive: true });
  for (const [file, line] of CASES) {
    mkdirSync(dirname(join(scratch, file)), { recursive: true });
    writeFileSync(join(scratch, file), `${line}\n`);
  }
  const biome = join(root, 'node_modules/.bin/biome');
  const args = ['lint', '--reporter=json', '--max-diagnostics=none', 'src', 'examples', 'web'];
  const { stdout } = spawnSync(biome, args, { cwd: scratch, encoding: 'utf8' });
  for (const { category, location } of JSON.parse(stdout).diagnostics) {
    found.set(location.path, [...(found.get(location.path) ?? []), category]);
  }
});

afterAll(() => rmSync(scratch, { recursive: true }));

test.each(CASES)('layer rules hold in %s', (file, _line, rules) => {
  expect([...new Set(found.get(file))].sort()).toEqual([...rules].sort());
});

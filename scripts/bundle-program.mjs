// Makes the command line a few files, with the packages it uses: loading some eight hundred took half of its start. What is loaded
// on demand or holds machine code stays outside. The licenses of what is inside go along, and what the engine compiles of it.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const path = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));

const { output } = await build({
  configFile: false,
  logLevel: 'warn',
  ssr: { noExternal: true, external: ['node-pty', '@xterm/headless', '@xterm/addon-unicode11'] },
  build: {
    ssr: path('src/cli/main.ts'),
    outDir: path('dist/cli'),
    emptyOutDir: true,
    target: 'node20',
    minify: false,
    rolldownOptions: {
      // It takes calls like decodeURIComponent, made for what they throw, for ones without effect.
      treeshake: false,
      output: {
        format: 'cjs', // the engine keeps compiled code of scripts, not of modules
        entryFileNames: '[name].cjs',
        chunkFileNames: '[name]-[hash].cjs',
        minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
      },
    },
  },
});

const folders = new Set(output.flatMap(({ moduleIds = [] }) => moduleIds.map(packageOf).filter(Boolean)));
writeFileSync(path('dist/cli/LICENSES.txt'), [...folders].sort().map(licenseOf).join('\n\n---\n\n'));

/** The folder of the package that a module is of; null where it is one of ours. */
function packageOf(id) {
  return /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id.replace(/^\0/, ''))?.[0] ?? null;
}

function licenseOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const files = existsSync(folder) ? readdirSync(folder).filter((file) => /^licen[cs]e|^copying|^notice/i.test(file)) : [];
  return [`${name} ${version} (${license})`, ...files.map((file) => readFileSync(join(folder, file), 'utf8').trim())].join('\n\n');
}

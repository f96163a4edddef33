// Makes the command line a few files, with the packages it uses: loading some eight hundred took half of its start. What is loaded
// on demand or holds machine code stays outside. The licenses of what is inside go along, and what the engine compiles of it.
import { chmodSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { packageLicenses } from './package-licenses.js';

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

chmodSync(path('dist/cli/main.cjs'), 0o755); // a link to it is a command
writeFileSync(path('dist/cli/LICENSES.txt'), packageLicenses(output));

// Makes the dashboard: dist/web/index.html and what it loads from dist/web/assets. The terminal is a file of its own, loaded on
// demand. Addresses are relative, so that it works below any path. The licenses of what is inside go along.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { packageLicenses } from './package-licenses.js';

const path = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));

const { output } = await build({
  configFile: false,
  logLevel: 'warn',
  root: path('web'),
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: path('dist/web'),
    emptyOutDir: true,
    copyPublicDir: false,
    target: 'es2022',
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 600, // the terminal, in kB
  },
});

writeFileSync(path('dist/web/LICENSES.txt'), packageLicenses(output));

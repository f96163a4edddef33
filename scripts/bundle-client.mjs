// Makes the client one file that a page can import as it is: dist/browser/client.js.
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const path = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));

await build({
  configFile: false,
  logLevel: 'warn',
  build: {
    outDir: path('dist/browser'),
    copyPublicDir: false,
    lib: { entry: path('dist/client/index.js'), formats: ['es'], fileName: () => 'client.js' },
  },
});

import { build, type Rollup } from 'vite';

const ENTRY = new URL('../../src/client/index.ts', import.meta.url).pathname;

export type Bundle = Rollup.OutputChunk;

/** The client as one script for browsers, which sets the global `ExecGateway`. */
export async function bundleClient(): Promise<Bundle> {
  const built = await build({
    configFile: false,
    logLevel: 'error',
    build: { write: false, minify: true, lib: { entry: ENTRY, name: 'ExecGateway', formats: ['iife'] } },
  });
  const { output } = (built as Rollup.RollupOutput[])[0]!;
  if (output.length !== 1) throw new Error(`The client is ${output.length} files, not one.`);
  return output[0];
}

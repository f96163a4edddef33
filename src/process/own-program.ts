import { fileURLToPath } from 'node:url';

/** This package's command line as built, which the gateway starts anew where it needs another of itself. */
export const OWN_PROGRAM = fileURLToPath(new URL('../../dist/cli/main.cjs', import.meta.url));

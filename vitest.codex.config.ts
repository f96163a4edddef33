import { defineConfig } from 'vitest/config';

/** The tests that drive this gateway with the real Codex: `npm run test:codex`. */
export default defineConfig({
  test: {
    include: ['test/codex/**/*.real.ts'],
    setupFiles: ['test/setup.ts'],
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 120_000,
    hookTimeout: 60_000,
    expect: { requireAssertions: true },
  },
});

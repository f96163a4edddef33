import { defineConfig } from 'vitest/config';

const ALONE = 'test/**/*.alone.test.ts';

/** It loads other test files, anew. */
const APART = 'test/codex/behind.test.ts';

export default defineConfig({
  test: {
    reporters: ['default', './test/reporter.ts'],
    globalSetup: ['test/global-setup.ts'],
    setupFiles: ['test/setup.ts'],
    pool: 'forks',
    // A program for each file would load the same modules 200 times, which takes longer than many a file.
    isolate: false,
    // More files at a time than cores: they wait for processes more than they work.
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { requireAssertions: true },
    projects: [
      { extends: true, test: { name: 'together', include: ['test/**/*.test.ts'], exclude: [ALONE, APART], sequence: { groupOrder: 0 } } },
      { extends: true, test: { name: 'apart', include: [APART], isolate: true, sequence: { groupOrder: 0 } } },
      // Heavy load and tight limits on time spoil each other: these files run afterwards, one at a time.
      { extends: true, test: { name: 'alone', include: [ALONE], isolate: true, maxWorkers: 1, sequence: { groupOrder: 1 } } },
    ],
  },
});

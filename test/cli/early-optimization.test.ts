import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { EARLY_FLAGS } from '../../src/cli/early-optimization.js';

test('the engine knows the words it is told to optimize early with', () => {
  const known = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8', maxBuffer: 1 << 24 });
  for (const flag of EARLY_FLAGS) expect(known).toContain(`  ${flag.split('=')[0]} `);
  expect(EARLY_FLAGS.length).toBeGreaterThan(0);
});

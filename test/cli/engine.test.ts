import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { ENGINE_FLAGS } from '../../src/cli/engine.js';

test('the engine knows the words it is tuned with', () => {
  const known = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8', maxBuffer: 1 << 24 });
  for (const flag of ENGINE_FLAGS) expect(known).toContain(`  ${flag.split('=')[0]?.replace('--no-', '--')} `);
  expect(ENGINE_FLAGS.length).toBeGreaterThan(0);
});

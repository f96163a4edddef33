import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const NAME = 'SCRATCH_OF_TESTS';

/** A directory that goes away when all tests have run. */
export function scratch(): string {
  const dir = process.env[NAME];
  if (dir === undefined) throw new Error('No directory was made for the tests.');
  return dir;
}

/** Makes it; returns what removes it. */
export function makeScratch(): () => void {
  const dir = mkdtempSync(join(tmpdir(), 'exec-gateway-tests-'));
  process.env[NAME] = dir;
  return () => rmSync(dir, { recursive: true, force: true });
}

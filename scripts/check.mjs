// Every check but the tests: runs the `check:` scripts of package.json one after another, and fails when one of them does.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const names = ['build', ...Object.keys(scripts).filter((name) => name.startsWith('check:'))];
const env = { ...process.env, REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
const failed = names.filter((name) => !passes(name));
console.log(failed.length === 0 ? 'All checks passed.' : `Failed: ${failed.join(', ')}.`);
process.exitCode = failed.length === 0 ? 0 : 1;

function passes(name) {
  console.log(`-- ${name}: ${scripts[name]}`);
  const start = performance.now();
  const { status } = spawnSync('npm', ['run', '--silent', name], { stdio: 'inherit', env });
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`-- ${name}: ${status === 0 ? 'ok' : 'FAILED'} after ${seconds} s\n`);
  return status === 0;
}

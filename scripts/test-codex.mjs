// Drives the gateway with the real Codex, where it is installed. Build first: it runs what is in dist.
import { spawnSync } from 'node:child_process';

const codex = process.env.CODEX_PATH ?? 'codex';
const found = spawnSync(codex, ['--version'], { encoding: 'utf8' });
if (found.status !== 0) {
  console.error(
    `\n*** No Codex here (${codex} --version failed): the endpoint is NOT tested with the real client.` +
      '\n*** Install it (npm install -g @openai/codex) or set CODEX_PATH to its program.\n',
  );
} else {
  console.log(`${found.stdout.trim()} drives the gateway`);
  const env = { ...process.env, CODEX_PATH: codex };
  process.exitCode = spawnSync('npx', ['vitest', 'run', '--config', 'vitest.codex.config.ts'], { stdio: 'inherit', env }).status ?? 1;
}

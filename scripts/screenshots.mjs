// `node scripts/screenshots.mjs [NAME]`, after a build and with Chromium: takes the pictures of the dashboard in docs/screenshots, all
// or those whose name begins so.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { listening } from './listening.js';

const path = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));
const programs = mkdtempSync(join(tmpdir(), 'programs-'));
const TOKEN = 'a-token-for-the-pictures-alone';
const DESK = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };
/** What each program does instead of what it says. */
const PROGRAMS = {
  deploy: 'exec sleep 600',
  compile: 'exit 2',
  backup: 'kill -TERM $$',
  train: 'seq 200000; exec sleep 600',
  fetch: 'true',
};
const STARTED = [
  { argv: ['deploy', '--to', 'staging', 'shop'], labels: { project: 'shop', step: 'deploy' } },
  { argv: ['compile', '-j8', 'release'], labels: { project: 'shop', step: 'build' } },
  { argv: ['backup', '/srv', 'vault:/daily'], labels: { nightly: '' } },
  { argv: ['train', '--epochs', '40', '--seed', '7'], labels: { project: 'model' } },
  { argv: ['fetch', '--all'] },
];
const LOG = String.raw`#!/bin/bash
printf '\033[1mBuilding shop 2.4.0\033[0m\n'; for n in catalog cart checkout search admin; do
printf '\033[32m✓\033[0m %-10s \033[2m%s ms\033[0m\n' $n $((RANDOM % 900 + 100)); done
printf '\033[33mwarning\033[0m: cart/totals.ts:41 rounds half to even\n' >&2
printf '\033[31merror\033[0m: checkout/tax.ts:17 "rate" is not in the table of 2026\n' >&2
printf 'Waiting for a change…\n'; exec cat`;

const gateway = spawn(process.execPath, [path('dist/cli/main.cjs'), 'serve', '--listen', '127.0.0.1:0'], {
  stdio: ['ignore', 'pipe', 'ignore'],
  env: { ...process.env, EXEC_GATEWAY_TOKEN: TOKEN },
});
const url = await listening(gateway.stdout);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
mkdirSync(path('docs/screenshots'), { recursive: true });
await begin();
for (const colorScheme of ['light', 'dark']) {
  await picture(`processes-${colorScheme}`, { colorScheme, viewport: DESK }, '#/', '.virtual-space .process-row');
  await picture(`output-${colorScheme}`, { colorScheme, viewport: DESK }, '#/processes/build', '.output-row');
  await picture(`api-${colorScheme}`, { colorScheme, viewport: DESK }, '#/api/run', '.call-view', send);
}
await picture('overview-light', { colorScheme: 'light', viewport: DESK }, '#/overview', 'main svg');
await picture('files-dark', { colorScheme: 'dark', viewport: DESK }, '#/files/usr/share', '.virtual-space a');
await picture('terminal-dark', { colorScheme: 'dark', viewport: DESK }, '#/processes/editor', '.xterm-rows');
await picture('processes-narrow', { colorScheme: 'light', viewport: PHONE }, '#/', '.virtual-space .process-row');
await picture('output-narrow', { colorScheme: 'dark', viewport: PHONE }, '#/processes/build', '.output-row');
await picture('api-narrow', { colorScheme: 'dark', viewport: PHONE }, '#/api/run', '.call-view', send);
await browser.close();
gateway.kill('SIGTERM');
await once(gateway, 'close');
rmSync(programs, { recursive: true });

/** Processes as a day's work leaves them. */
async function begin() {
  for (const [name, script] of Object.entries(PROGRAMS)) writeFileSync(join(programs, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  writeFileSync(join(programs, 'watch-shop'), LOG, { mode: 0o755 });
  for (const request of STARTED) await start(request);
  await start({ process_id: 'build', argv: ['watch-shop', '--all'], labels: { project: 'shop', step: 'watch' }, pipe_stdin: true });
  const vim = ['vim', '-u', 'NONE', '-N', '+syntax on', '+set number', 'Apache-2.0'];
  await start({ process_id: 'editor', argv: vim, tty: true, cwd: '/usr/share/common-licenses' });
}

async function start(request) {
  const env = { PATH: `${programs}:/usr/bin:/bin` };
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
  const response = await fetch(`${url}/processes`, { method: 'POST', headers, body: JSON.stringify({ cwd: '/srv', env, ...request }) });
  if (!response.ok) throw new Error(await response.text());
}

/** Sends the example of a call, and goes to what is answered. */
async function send(page) {
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByRole('region', { name: 'Body of the reply' }).scrollIntoViewIfNeeded();
}

async function picture(name, options, hash, shown, prepare = async () => {}) {
  if (!name.startsWith(process.argv[2] ?? '')) return;
  const context = await browser.newContext({ ...options, reducedMotion: 'reduce' });
  const page = await context.newPage();
  await page.goto(`${url}/#token=${TOKEN}`);
  await page.getByRole('heading', { name: 'Processes' }).waitFor();
  await page.goto(`${url}/${hash}`);
  await page.locator(shown).first().waitFor();
  await prepare(page);
  await page.waitForTimeout(name.startsWith('overview') ? 20_000 : 1500); // nothing tells that all is there
  await page.screenshot({ path: path(`docs/screenshots/${name}.png`) });
  await context.close();
}

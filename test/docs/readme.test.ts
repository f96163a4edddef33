import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { MAIN } from '../cli/spawn-cli.js';
import { useGateway } from '../wire/use-gateway.js';

const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
const run = promisify(execFile);

interface Command {
  line: string;
  /** What the README shows below it; … stands for what differs from run to run. */
  output: string;
}

/** The commands of the ```console blocks, in order. */
function commands(text: string): Command[] {
  const blocks = [...text.matchAll(/^```console\n([\s\S]*?)^```$/gm)].map((match) => match[1] as string);
  return blocks.flatMap((block) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((part) => {
        const end = part.indexOf('\n');
        return { line: part.slice(0, end), output: part.slice(end + 1) };
      }),
  );
}

function pattern(output: string): RegExp {
  const literal = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${output.trimEnd().split('…').map(literal).join('.+?')}$`);
}

const gateway = useGateway();

/** Stands for `/tmp`, where a reader's own files may lie. */
const dir = mkdtempSync(join(tmpdir(), 'readme-'));
/** Where `exec-gateway` is found, as where it is installed. */
const bin = mkdtempSync(join(tmpdir(), 'bin-'));
writeFileSync(join(bin, 'exec-gateway'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`, { mode: 0o755 });
afterAll(() => {
  for (const made of [dir, bin]) rmSync(made, { recursive: true });
});

test('the lines of the README do what it shows, one after another', async () => {
  const shown = commands(README.replaceAll('/tmp/', `${dir}/`));
  expect(shown.length).toBeGreaterThan(10);
  const { url, token } = gateway.server;
  const env = { ...process.env, PATH: `${bin}:${process.env.PATH}`, EXEC_GATEWAY_URL: url, EXEC_GATEWAY_TOKEN: token as string };
  const setup = README.split('\n').find((line) => line.startsWith('AUTH='));
  for (const { line, output } of shown) {
    const { stdout } = await run('sh', ['-c', `${setup}\n${line}`], { env });
    expect(stdout.trimEnd(), line).toMatch(pattern(output));
  }
});

test('the README begins with its two commands', () => {
  expect(README.indexOf('npm ci && npm start')).toBeGreaterThan(0);
  expect(README.indexOf('npm ci && npm start')).toBeLessThan(README.indexOf('npm ci && npm test'));
  expect(README.indexOf('npm ci && npm test')).toBeLessThan(900);
});

test('what the documents point to is there', () => {
  const places = [...README.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map((match) => match[1] as string);
  expect(places.length).toBeGreaterThan(10);
  for (const place of places) expect(() => readFileSync(new URL(`../../${place}`, import.meta.url)), place).not.toThrow(/ENOENT/);
});

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const text = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

test.each(['dependencies', 'devDependencies'])('each of the %s has its reason in docs/dependencies.md, in the right table', (kind) => {
  const [, atRunTime, other] = text('docs/dependencies.md').split(/^## /m);
  const rows = ((kind === 'dependencies' ? atRunTime : other) ?? '').matchAll(/^\| (`.*?`)\s+\| \S/gm);
  const named = [...rows].flatMap(([, names]) => names!.replaceAll('`', '').split(', '));
  expect(named.sort()).toEqual(Object.keys(JSON.parse(text('package.json'))[kind]).sort());
});

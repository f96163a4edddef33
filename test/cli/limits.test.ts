import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { serveCommand } from '../../src/cli/serve-options.js';
import * as protocol from '../../src/protocol/index.js';
import { tableRows } from '../protocol/doc-table.js';

const SRC = new URL('../../src/', import.meta.url);

/** The rows of docs/limits.md by their name. */
const documented = new Map(
  tableRows('limits.md').map(([name = '', value = '', unit = '', why = '']) => [name.slice(1, -1), { value, unit, why }]),
);

const written = (value: number) => value.toLocaleString('en-US');

describe('docs/limits.md', () => {
  const options = serveCommand().options.map((option) => [option.long as string, option] as const);
  const numbers = Object.entries(protocol).filter((entry): entry is [string, number] => typeof entry[1] === 'number');

  test.each(options)('%s has its default and a variable', (flag, option) => {
    const { defaultValue } = option;
    const row = documented.get(flag);
    expect(row?.why.length).toBeGreaterThan(10);
    if (typeof defaultValue === 'number') expect(row?.value).toBe(written(defaultValue));
    else if (typeof defaultValue === 'string') expect(row?.value).toBe(`\`${defaultValue}\``);
    else if (flag === '--listen') expect(row?.value).toBe(`\`${option.defaultValueDescription}\``);
    else expect(row?.value).toMatch(/^(none|off)$/);
    if (flag !== '--no-auth') expect(option.envVar).toBe(`EXEC_GATEWAY_${flag.slice(2).toUpperCase().replaceAll('-', '_')}`);
  });

  test.each(numbers)('%s is %i', (name, value) => {
    expect(documented.get(name)).toMatchObject({ value: written(value), unit: unitOf(name) });
    expect(documented.get(name)?.why.length).toBeGreaterThan(10);
  });

  test('names nothing that does not exist, and no other value than the source', () => {
    const known = new Set([...options.map(([flag]) => flag), ...numbers.map(([name]) => name)]);
    const inside = [...documented].filter(([name]) => !known.has(name));
    expect(inside.length).toBeGreaterThan(0);
    for (const [name, { value }] of inside) expect([name, value]).toEqual([name, written(constant(name))]);
  });
});

function unitOf(name: string): unknown {
  if (name.endsWith('_BYTES')) return 'bytes';
  return name.endsWith('_MS') ? 'milliseconds' : expect.stringMatching(/^[a-z]+$/);
}

/** The value of the one constant of that name in the source. */
function constant(name: string): number {
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const text = files.map((file) => readFileSync(new URL(file, SRC), 'utf8')).join('\n');
  const found = [...text.matchAll(new RegExp(`^(?:export )?const ${name} = ([\\d_* ]+);`, 'gm'))];
  if (found.length !== 1) throw new Error(`${name} is defined ${found.length} times`);
  const factors = (found[0]?.[1] ?? '').split('*').map((factor) => Number(factor.trim().replaceAll('_', '')));
  return factors.reduce((product, factor) => product * factor, 1);
}

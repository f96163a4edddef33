import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkSize, checkText } from '../../src/process/start-check.js';
import type { StartRequest } from '../../src/protocol/index.js';
import { codeOfThrown } from './thrown.js';

const base: StartRequest = { argv: ['true'] };
/** A JavaScript key or value may hold anything. */
const BAD: [what: string, text: string][] = [
  ['NUL', 'a\0b'],
  ['half a surrogate pair', 'a\ud800b'],
];

describe('text that no program can be given', () => {
  test.each(
    BAD.flatMap(([what, text]) => [
      [what, 'argv[1]', { argv: ['true', text] }],
      [what, 'cwd', { ...base, cwd: text }],
      [what, 'arg0', { ...base, arg0: text }],
      [what, 'tty.term', { ...base, tty: { term: text } }],
      [what, 'env', { ...base, env: { [text]: '' } }],
      [what, 'env.A', { ...base, env: { A: text } }],
      [what, 'env_policy.set', { ...base, env_policy: { set: { [text]: '' } } }],
      [what, 'env_policy.set.A', { ...base, env_policy: { set: { A: text } } }],
    ]) as [string, string, StartRequest][],
  )('%s in %s is refused by the name of the field', (_what, field, request) => {
    expect(() => checkText(request)).toThrow(expect.objectContaining({ code: 'invalid_argument', fields: { field } }));
  });

  test.each([
    ['an empty program', { argv: [''] }, 'argv[0]'],
    ['a variable without a name', { ...base, env: { '': 'x' } }, 'env'],
    ['a name with =', { ...base, env_policy: { set: { 'A=B': 'x' } } }, 'env_policy.set'],
  ])('%s is refused', (_what, request, field) => {
    expect(() => checkText(request)).toThrow(expect.objectContaining({ code: 'invalid_argument', fields: { field } }));
  });

  test('all other text passes', () => {
    const text = fc.string({ unit: 'binary', minLength: 1 }).map((value) => value.toWellFormed().replaceAll('\0', '.'));
    fc.assert(
      fc.property(text, text, (one, other) => {
        const name = one.replaceAll('=', '.');
        expect(codeOfThrown(() => checkText({ argv: [one, other, ''], cwd: one, arg0: other, env: { [name]: other } }))).toBeUndefined();
      }),
    );
  });
});

describe('arguments and environment', () => {
  const LONGEST = 128 * 1024 - 1;

  test('may be as long as the system passes, one by one', () => {
    expect(codeOfThrown(() => checkSize(['x', 'a'.repeat(LONGEST)], { A: 'a'.repeat(LONGEST - 2) }))).toBeUndefined();
    for (const [argv, env, field] of [
      [['x', 'a'.repeat(LONGEST + 1)], {}, 'argv[1]'],
      [['x', 'é'.repeat(LONGEST / 2 + 1)], {}, 'argv[1]'],
      [['x'], { A: 'a'.repeat(LONGEST - 1) }, 'env.A'],
    ] as [string[], Record<string, string>, string][]) {
      expect(() => checkSize(argv, env)).toThrow(
        expect.objectContaining({ code: 'argument_list_too_long', fields: { field, limit: LONGEST + 1 } }),
      );
    }
  });

  test('may not be more together than the system passes', () => {
    const many = Array.from({ length: 64 }, () => 'a'.repeat(100_000));
    expect(codeOfThrown(() => checkSize(['x', ...many], {}))).toBe('argument_list_too_long');
  });
});

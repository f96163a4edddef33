import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { childEnv, globMatch } from '../../src/process/child-env.js';
import { codeOfThrown } from './thrown.js';

const letters = (alphabet: string) => fc.string({ unit: fc.constantFrom(...alphabet), maxLength: 10 });

/** The same question to another engine. */
function modelMatch(name: string, glob: string): boolean {
  const pattern = [...glob]
    .map((c) => (c === '*' ? '[\\s\\S]*' : c === '?' ? '[\\s\\S]' : c.replace(/[.+^${}()|[\]\\]/g, '\\$&')))
    .join('');
  return new RegExp(`^${pattern}$`).test(name);
}

describe('globs', () => {
  test('match as a regular expression would', () => {
    fc.assert(
      fc.property(letters('abA_.['), letters('ab*?A_.['), (name, glob) => {
        expect(globMatch(name, glob, { left: 1e9 })).toBe(modelMatch(name, glob));
      }),
      { numRuns: 5000 },
    );
  });

  test('take no time that grows with the power of their stars', () => {
    const started = performance.now();
    expect(globMatch('a'.repeat(5000), `${'*a'.repeat(100)}b`, { left: 1e9 })).toBe(false);
    expect(performance.now() - started).toBeLessThan(1000);
  });
});

test('globs take a bounded number of comparisons', () => {
  const set = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`${'a'.repeat(250)}${i}`, '']));
  const many = Array.from({ length: 256 }, () => `*${'a'.repeat(200)}b`);
  const started = performance.now();
  expect(codeOfThrown(() => childEnv({}, { inherit: 'none', set, include_only: many }))).toBe('invalid_argument');
  expect(performance.now() - started).toBeLessThan(1000);
  const few = { inherit: 'all', set, exclude: ['AWS_*'], include_only: ['*_KEY', 'a*'] } as const;
  expect(
    Object.keys(childEnv({ AWS_KEY: '', MY_KEY: '' }, { ...few, exclude: [...few.exclude], include_only: [...few.include_only] })),
  ).toHaveLength(1001);
});

const OWN = {
  PATH: '/bin',
  HOME: '/home/me',
  LC_ALL: 'C',
  LC_TIME: 'C',
  TZ: 'UTC',
  SECRET: 's',
  AWS_KEY: 'k',
  EXEC_GATEWAY_TOKEN: 'token',
  EXEC_GATEWAY_LISTEN: '127.0.0.1:0',
  GONE: undefined,
};

describe("a child's environment", () => {
  test.each([
    ['by default', undefined, undefined, ['PATH', 'HOME', 'LC_ALL', 'LC_TIME', 'TZ']],
    ['with env', undefined, { A: '1', PATH: '/x' }, ['PATH', 'HOME', 'LC_ALL', 'LC_TIME', 'TZ', 'A']],
    ['none', { inherit: 'none' as const }, {}, []],
    ['all', { inherit: 'all' as const }, {}, ['PATH', 'HOME', 'LC_ALL', 'LC_TIME', 'TZ', 'SECRET', 'AWS_KEY']],
    ['exclude', { inherit: 'all' as const, exclude: ['AWS_*', 'LC_?LL', 'secret'] }, {}, ['PATH', 'HOME', 'LC_TIME', 'TZ', 'SECRET']],
    ['set after exclude', { exclude: ['*'], set: { PATH: '/set' } }, {}, ['PATH']],
    ['include_only after set', { set: { NEW: 'n', OLD: 'o' }, include_only: ['N*', 'PATH'] }, {}, ['PATH', 'NEW']],
    ['include_only does not touch env', { include_only: ['TZ'] }, { A: '1' }, ['TZ', 'A']],
    ['include_only of nothing', { include_only: [] }, { A: '1' }, ['A']],
  ])('%s', (_name, policy, env, names) => {
    expect(Object.keys(childEnv(OWN, policy, env)).sort()).toEqual([...names].sort());
  });

  test('env wins over set, set wins over what is inherited', () => {
    const made = childEnv(OWN, { set: { PATH: '/set', TZ: 'set' } }, { TZ: 'env' });
    expect(made).toMatchObject({ PATH: '/set', TZ: 'env', HOME: '/home/me' });
  });

  test('no policy lets a setting of the gateway through', () => {
    const globs = fc.array(letters('EXCGATWY_*?'), { maxLength: 3 });
    const policy = fc.record(
      { inherit: fc.constantFrom('core', 'none', 'all'), exclude: globs, include_only: globs },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(policy, (given) => {
        expect(Object.keys(childEnv(OWN, given)).filter((name) => name.startsWith('EXEC_GATEWAY_'))).toEqual([]);
      }),
    );
  });

  test('a name that objects are born with is an ordinary variable', () => {
    const env = JSON.parse('{"__proto__":"a","constructor":"b"}') as Record<string, string>;
    expect(Object.entries(childEnv({}, {}, env))).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
    ]);
  });
});

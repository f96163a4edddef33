import { constants } from 'node:os';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { signalName, signalNumber, signalOf } from '../../src/process/signals.js';

const NAMES = Object.keys(constants.signals) as NodeJS.Signals[];

describe('signal names', () => {
  test('are read with or without SIG, in any case', () => {
    const spelling = fc.tuple(fc.constantFrom(...NAMES), fc.boolean(), fc.array(fc.boolean(), { minLength: 16, maxLength: 16 }));
    fc.assert(
      fc.property(spelling, ([name, short, upper]) => {
        const text = [...(short ? name.slice(3) : name)].map((c, i) => (upper[i] ? c : c.toLowerCase())).join('');
        expect(signalName(text)).toBe(name);
      }),
    );
  });

  test.each(['', 'SIG', '9', 'TERM ', 'SIGSIGTERM', 'toString', '__proto__', 'KILL\0', 'SIGRTMIN'])(
    '%j is refused with what is allowed',
    (text) => {
      expect(() => signalName(text)).toThrow(
        expect.objectContaining({
          code: 'invalid_argument',
          fields: { field: 'signal', allowed: expect.arrayContaining(['SIGTERM', 'SIGKILL']) },
        }),
      );
    },
  );

  test('every number up to 64 has a name that leads back to it', () => {
    for (let number = 1; number <= 64; number++) expect(signalNumber(signalOf(number))).toBe(number);
    expect([signalOf(9), signalOf(15), signalOf(40)]).toEqual(['SIGKILL', 'SIGTERM', 'SIG40']);
  });
});

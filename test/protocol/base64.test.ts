import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeBase64, encodeBase64, GatewayError } from '../../src/protocol/index.js';

const bytes = fc.uint8Array({ maxLength: 300 });

describe('base64', () => {
  test('any bytes come back as they were, and the text is the one everybody writes', () => {
    fc.assert(
      fc.property(bytes, (input) => {
        const text = encodeBase64(input);
        expect(text).toBe(Buffer.from(input).toString('base64'));
        expect(decodeBase64(text)).toEqual(input);
      }),
    );
  });

  test.each([0, 1, 2, 3, 0x2000 * 3 - 1, 0x2000 * 3, 0x2000 * 3 + 1, 1_000_003])('%i bytes survive the cut into slices', (length) => {
    const input = new Uint8Array(length).map((_, i) => (i * 7919) >> 3);
    expect(Buffer.from(decodeBase64(encodeBase64(input))).equals(Buffer.from(input))).toBe(true);
  });

  test('a view into a larger buffer is encoded alone', () => {
    const whole = Uint8Array.of(1, 2, 3, 4, 5, 6, 7);
    expect(encodeBase64(whole.subarray(2, 5))).toBe('AwQF');
  });

  test('text decodes exactly when it is what the encoder would write', () => {
    const nearly = fc.string({ unit: fc.constantFrom(...'ABab09+/-_= \n\u00e9\u{1f600}'), maxLength: 12 });
    fc.assert(
      fc.property(nearly, (text) => {
        const canonical = Buffer.from(text, 'base64').toString('base64') === text;
        if (canonical) expect(encodeBase64(decodeBase64(text))).toBe(text);
        else expect(() => decodeBase64(text)).toThrow(GatewayError);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('malformed base64 is refused with the reason', () => {
  test.each([
    ['no padding', 'QQ', /multiple of 4/],
    ['half of the padding', 'QQ=', /multiple of 4/],
    ['too much padding', 'QQ======', /character 3/],
    ['padding alone', '====', /character 1/],
    ['padding in the middle', 'QQ==QUFB', /character 3/],
    ['the other alphabet', '-_-_', /character 1/],
    ['a space', 'QUF CQUE', /character 4/],
    ['a line break', 'QUFB\nUFB', /character 5/],
    ['a letter that is not ASCII', 'QUFé', /character 4/],
    ['stray bits before ==', 'QR==', /stray bits/],
    ['stray bits before =', 'QUF=', /stray bits/],
    ['NUL', 'QUF\0', /character 4/],
  ])('%s', (_kind, text, reason) => {
    expect(() => decodeBase64(text, 'input_base64')).toThrow(
      expect.objectContaining({ code: 'invalid_argument', fields: { field: 'input_base64' }, message: expect.stringMatching(reason) }),
    );
  });
});

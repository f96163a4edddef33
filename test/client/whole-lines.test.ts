import fc from 'fast-check';
import { expect, test } from 'vitest';
import { WholeLines } from '../../src/client/whole-lines.js';

const text = fc.string({ unit: fc.constantFrom('a', 'é', '\r', '\n', '\r\n'), maxLength: 40 });

test('however a text is cut, its lines come whole and in order, and the rest is held', () => {
  fc.assert(
    fc.property(text, fc.array(fc.nat(6), { minLength: 1 }), (whole, sizes) => {
      const bytes = Buffer.from(whole);
      const lines = new WholeLines();
      let taken = '';
      for (let at = 0, i = 0; at < bytes.length; i++) {
        const size = 1 + (sizes[i % sizes.length] as number);
        const piece = Buffer.from(lines.take(bytes.subarray(at, at + size)));
        expect(piece.toString()).toMatch(/[\r\n]$|^$/);
        taken += piece;
        at += size;
      }
      expect(taken).toBe(/^[\s\S]*[\r\n]|^/.exec(whole)?.[0]);
      expect(lines.held_bytes).toBe(bytes.length - Buffer.byteLength(taken));
    }),
  );
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Moments } from '../../src/process/moments.js';

test('a moment never leads past what came later, and is exact for the latest events', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 3000 }), fc.nat(), (steps, pick) => {
      const moments = new Moments();
      const all: { moment: number; seq: number }[] = [];
      for (const step of steps) {
        const before = all.at(-1) ?? { moment: 1000, seq: 0 };
        const next = { moment: before.moment + step, seq: before.seq + (step === 5 ? 2 : 1) };
        all.push(next);
        moments.push(next.moment, next.seq);
      }
      const at = all[pick % all.length]!;
      // The events up to a moment, and the moment up to an event: at most what is true.
      expect(moments.seqAt(at.moment)).toBeLessThanOrEqual(at.seq);
      expect(moments.momentOf(at.seq)).toBeLessThanOrEqual(at.moment);
      expect(moments.seqAt(1000)).toBe(0);
      expect(moments.momentOf(0)).toBe(0);
      const last = all.at(-1)!;
      expect([moments.seqAt(last.moment + 1), moments.momentOf(last.seq)]).toEqual([last.seq, last.moment]);
      if (all.length < 500) expect([moments.seqAt(at.moment), moments.momentOf(at.seq)]).toEqual([at.seq, at.moment]);
    }),
  );
});

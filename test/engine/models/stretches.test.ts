import fc from 'fast-check';
import { expect, it } from 'vitest';
import { stretchesOf } from '../../../engine/models/stretches.ts';

it('cuts into as few stretches as the limit allows, of whole frames, and leaves nothing out', () => {
  const limits = fc.record({
    maxSamples: fc.integer({ min: 100, max: 5000 }),
    frameSamples: fc.constantFrom(1, 7, 100),
  });
  fc.assert(
    fc.property(fc.nat(60_000), limits, (length, { maxSamples, frameSamples }) => {
      const stretches = stretchesOf(length, { maxSamples, frameSamples });
      const longest = maxSamples - (maxSamples % frameSamples);
      expect(stretches).toHaveLength(Math.ceil(length / longest));
      let at = 0;
      for (const { from, to } of stretches) {
        expect(from).toBe(at);
        expect(from % frameSamples).toBe(0);
        expect(to - from).toBeLessThanOrEqual(maxSamples);
        at = to;
      }
      expect(at).toBe(length);
    }),
  );
});

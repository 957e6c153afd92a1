import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sequenceUnwrapper, timestampUnwrapper } from '../../../../../src/carriers/sip/wire/rtp/unwrapper.ts';

describe('a counter that wraps', () => {
  it('goes on growing', () => {
    const sequence = sequenceUnwrapper();
    expect([65_534, 65_535, 0, 1].map((value) => sequence.unwrap(value))).toEqual([65_534, 65_535, 65_536, 65_537]);
    const timestamp = timestampUnwrapper();
    expect([2 ** 32 - 160, 0, 160].map((value) => timestamp.unwrap(value))).toEqual([
      2 ** 32 - 160,
      2 ** 32,
      2 ** 32 + 160,
    ]);
  });

  it('knows what is late across the wrap', () => {
    const { unwrap } = bound(sequenceUnwrapper());
    expect([65_535, 1, 0, 65_534, 2].map(unwrap)).toEqual([65_535, 65_537, 65_536, 65_534, 65_538]);
  });

  it('may begin with something late', () => {
    const { unwrap } = bound(sequenceUnwrapper());
    expect([0, 65_535].map(unwrap)).toEqual([0, -1]);
  });

  it('finds every number again within half a turn of the greatest', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 0xffff }),
        fc.array(fc.integer({ min: -200, max: 3000 })),
        (first, steps) => {
          const { unwrap } = bound(sequenceUnwrapper());
          let greatest = first;
          expect(unwrap(first)).toBe(first);
          for (const step of steps) {
            const value = greatest + step;
            expect(unwrap(((value % 65_536) + 65_536) % 65_536)).toBe(value);
            greatest = Math.max(greatest, value);
          }
        },
      ),
    );
  });
});

function bound(unwrapper: { unwrap(value: number): number }) {
  return { unwrap: (value: number) => unwrapper.unwrap(value) };
}

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { collapseLoops } from '../../engine/text.ts';

/** Few different tokens, so that repetitions happen. */
const tokensArbitrary = fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 60 });

/** Whether some run of 1–6 tokens stands four times in a row, looked for the slow way. */
function hasLoop(tokens: readonly number[]): boolean {
  for (let unit = 1; unit <= 6; unit++) {
    for (let start = 0; start + 4 * unit <= tokens.length; start++) {
      const run = tokens.slice(start, start + 4 * unit);
      if (run.every((token, index) => token === run[index % unit])) return true;
    }
  }
  return false;
}

describe('collapseLoops', () => {
  it('leaves three copies alone', () => {
    expect(collapseLoops([7, 7, 7, 8])).toEqual({ tokens: [7, 7, 7, 8], looped: false });
  });

  it('collapses four copies of one token to one', () => {
    expect(collapseLoops([5, 7, 7, 7, 7, 8])).toEqual({ tokens: [5, 7, 8], looped: true });
  });

  it('collapses a unit of six tokens and keeps what follows', () => {
    const unit = [1, 2, 3, 4, 5, 6];
    expect(collapseLoops([...unit, ...unit, ...unit, ...unit, 1, 9])).toEqual({
      tokens: [...unit, 1, 9],
      looped: true,
    });
  });

  it('leaves a repeated unit of seven tokens alone', () => {
    const unit = [1, 2, 3, 4, 5, 6, 7];
    expect(collapseLoops([...unit, ...unit, ...unit, ...unit]).looped).toBe(false);
  });

  it('collapses a long run to one copy of its shortest unit', () => {
    expect(collapseLoops(Array.from({ length: 40 }, () => 4)).tokens).toEqual([4]);
  });

  it('never leaves a loop behind', () => {
    fc.assert(fc.property(tokensArbitrary, (tokens) => !hasLoop(collapseLoops(tokens).tokens)));
  });

  it('says that it looped exactly when there was a loop, and changes nothing otherwise', () => {
    fc.assert(
      fc.property(tokensArbitrary, (tokens) => {
        const collapsed = collapseLoops(tokens);
        expect(collapsed.looped).toBe(hasLoop(tokens));
        if (!collapsed.looped) expect(collapsed.tokens).toEqual(tokens);
      }),
    );
  });

  it('finds a loop wherever it is put', () => {
    const unit = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(
        tokensArbitrary,
        unit,
        fc.integer({ min: 4, max: 12 }),
        tokensArbitrary,
        (before, loop, copies, after) => {
          const repeated = Array.from({ length: copies }, () => loop).flat();
          expect(collapseLoops([...before, ...repeated, ...after]).looped).toBe(true);
        },
      ),
    );
  });
});

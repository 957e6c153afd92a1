import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { heardPart } from '../../../src/calls/outbound/heard-text.ts';

describe('the part of a text that was heard', () => {
  it.each([
    ['Life is a complex set of actions.', 0, ''],
    ['Life is a complex set of actions.', 0.35, 'Life is a'],
    ['Life is a complex set of actions.', 0.99, 'Life is a complex set of'],
    ['Life is a complex set of actions.', 1, 'Life is a complex set of actions.'],
    [' Life is.', 0.6, ' Life'],
    ['Antidisestablishmentarianism', 0.9, ''],
    ['请问您需要什么帮助', 0.5, '请问您需'],
    ['  ', 1, '  '],
  ])('%j, %d of it: %j', (text, share, heard) => {
    expect(heardPart(text, share)).toBe(heard);
  });

  it('is always a beginning in whole words, no shorter for a larger share', () => {
    const text = fc.string({ unit: 'binary', maxLength: 60 });
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(text, share, share, (whole, a, b) => {
        const less = heardPart(whole, Math.min(a, b));
        const more = heardPart(whole, Math.max(a, b));
        expect(whole.startsWith(more)).toBe(true);
        expect(more.startsWith(less)).toBe(true);
        expect(less.length).toBeLessThanOrEqual(Math.max(Math.ceil(whole.length * Math.min(a, b)), 0));
      }),
    );
    const words = fc
      .array(fc.stringMatching(/^[a-z]{1,9}$/), { minLength: 1, maxLength: 12 })
      .map((list) => list.join(' '));
    fc.assert(
      fc.property(words, share, (whole, part) => {
        const heard = heardPart(whole, part);
        if (heard !== '') expect([undefined, ' ']).toContain(whole[heard.length]);
      }),
    );
  });
});

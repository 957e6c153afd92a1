import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withoutDoubled } from '../../src/transcription/doubled-word.ts';

describe('withoutDoubled', () => {
  it.each([
    ['our own mobile phone.', 'Phones whenever a customer', 'whenever a customer'],
    ['the telephone', 'Telephone. Good.', 'Good.'],
    ['and then tomorrow', 'tomorrow', ''],
    ['I said no', 'No, I did', 'No, I did'],
    ['it is very', 'every time', 'every time'],
    ['', 'Hello there', 'Hello there'],
  ])('%j before %j leaves %j', (before, text, left) => {
    expect(withoutDoubled(before, text)).toBe(left);
  });

  it('never touches what does not begin with the last word', () => {
    const word = fc.stringMatching(/^[a-f]{1,8}$/);
    fc.assert(
      fc.property(fc.array(word, { minLength: 1 }), fc.array(word, { minLength: 1 }), (before, after) => {
        fc.pre(before.at(-1)?.slice(0, 4) !== after[0]?.slice(0, 4));
        expect(withoutDoubled(before.join(' '), after.join(' '))).toBe(after.join(' '));
      }),
    );
  });
});

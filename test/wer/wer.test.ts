import { describe, expect, it } from 'vitest';
import { countEdits, sumEdits, wordErrorRate } from '../bench/wer/align.ts';
import { normaliseWords } from '../bench/wer/normalise.ts';

describe('word error rate', () => {
  it.each([
    ["I'm OK, you can't dial 8500.", 'i am okay you cannot dial eighty five hundred'],
    ['Press 1, or * for the P.B.X.', 'press one or star for the pbx'],
    ['Your voice mail box; extension 1234#', 'your voicemail box extension one two three four pound'],
    ['the 2nd of 15% costs $20', 'the second of fifteen percent costs twenty dollars'],
    ['007 and 3.14', 'zero zero seven and three point one four'],
  ])('reads %j as words', (text, words) => {
    expect(normaliseWords(text).join(' ')).toBe(words);
  });

  it('counts substitutions, deletions and insertions', () => {
    const edits = countEdits(['a', 'b', 'c', 'd', 'e', 'f'], ['a', 'x', 'd', 'e', 'f', 'g']);
    expect(edits).toEqual({ substitutions: 1, deletions: 1, insertions: 1, words: 6 });
    expect(wordErrorRate(sumEdits([edits, { substitutions: 0, deletions: 0, insertions: 0, words: 6 }]))).toBe(25);
  });

  it('calls every word of an empty hypothesis deleted', () => {
    expect(countEdits(['a', 'b'], [])).toEqual({ substitutions: 0, deletions: 2, insertions: 0, words: 2 });
  });
});

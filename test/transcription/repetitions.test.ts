import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fixRepetitions } from '../../src/transcription/repetitions.ts';

describe('fixRepetitions', () => {
  it.each([
    ['a character 20 times stays', 'a'.repeat(20), 'a'.repeat(20)],
    ['a character 21 times becomes one', 'a'.repeat(21), 'a'],
    ['only the long run is shortened', `b${'a'.repeat(30)}bb`, 'babb'],
    ['a pattern 19 times stays', 'ab'.repeat(19), 'ab'.repeat(19)],
    ['a pattern 20 times becomes one', 'ab'.repeat(20), 'ab'],
    ['all further copies go with it', 'ab'.repeat(33), 'ab'],
    ['an incomplete copy behind it stays', `${'ab'.repeat(20)}a`, 'aba'],
    ['words count as patterns with their spaces', `so ${'the '.repeat(25)}end`, 'so the end'],
    ['19 words the same stay', 'four '.repeat(19), 'four '.repeat(19)],
    ['a pattern of 20 characters is found', 'abcdefghijklmnopqrst'.repeat(20), 'abcdefghijklmnopqrst'],
    ['a pattern of 21 characters is not', 'abcdefghijklmnopqrstu'.repeat(20), 'abcdefghijklmnopqrstu'.repeat(20)],
    ['two patterns are both found', `${'ab'.repeat(20)}${'cd'.repeat(20)}`, 'abcd'],
    ['a second pattern too near the end stays', `${'ab'.repeat(20)}${'c'.repeat(20)}`, `ab${'c'.repeat(20)}`],
    [
      '20 of a character with 40 characters left count as a pattern',
      `${'a'.repeat(20)}${'xy'.repeat(10)}`,
      `a${'xy'.repeat(10)}`,
    ],
    ['code points are counted, not UTF-16 units', '😀'.repeat(20), '😀'.repeat(20)],
    ['a repeated code point outside the basic plane becomes one', '😀'.repeat(21), '😀'],
    ['nothing stays nothing', '', ''],
  ])('%s', (_, text, expected) => {
    expect(fixRepetitions(text)).toBe(expected);
  });

  it('never makes a text longer', () => {
    const piece = fc
      .tuple(fc.string({ unit: 'grapheme', maxLength: 22 }), fc.nat(45))
      .map(([text, copies]) => text.repeat(copies));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 4 }), (pieces) => {
        const text = pieces.join('');
        expect(Array.from(fixRepetitions(text)).length).toBeLessThanOrEqual(Array.from(text).length);
      }),
    );
  });

  it('leaves text alone in which nothing comes 20 times', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ minLength: 1, maxLength: 5 }), { maxLength: 19 }), (words) => {
        const text = words.map((word, n) => `${n}${word.slice(0, 2)}`).join(' ');
        expect(fixRepetitions(text)).toBe(text);
      }),
    );
  });

  it('gets through hostile text, in which every pattern nearly repeats often enough', () => {
    const nearMiss = `${'abcdefghij'.repeat(19)}!`;
    expect(fixRepetitions(nearMiss.repeat(500))).toBe(nearMiss.repeat(500));
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SPEAK_TEXT_MAX_CHARS } from '../../engine/contract.ts';
import { cutToPieces } from '../../src/speech/pieces.ts';

const same = (text: string): string => text;

describe('pieces of a sentence', () => {
  it('are the sentence itself when it is short', () => {
    expect(cutToPieces(' Hello there. ', same)).toEqual([{ text: ' Hello there. ', spoken: 'Hello there.' }]);
  });

  it('are cut at spaces', () => {
    const sentence = 'word '.repeat(100);
    const pieces = cutToPieces(sentence, same);
    expect(pieces.length).toBeGreaterThan(1);
    for (const { text } of pieces) expect(text).toMatch(/^(word )+$/);
  });

  it('are short enough once they are written out', () => {
    const digits = '8'.repeat(290);
    const pieces = cutToPieces(digits, (text) => text.replaceAll('8', 'eight '));
    expect(pieces.length).toBeGreaterThan(1);
    for (const { spoken } of pieces) expect(spoken.length).toBeLessThanOrEqual(SPEAK_TEXT_MAX_CHARS);
  });

  it('are together the sentence, none longer than the engine takes, no character cut in two', () => {
    const growth = fc.integer({ min: 1, max: 40 });
    const text = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 900 }),
      fc.lorem({ maxCount: 200 }),
      fc.constant('😀'.repeat(400)),
    );
    fc.assert(
      fc.property(text, growth, (sentence, times) => {
        const pieces = cutToPieces(sentence, (each) => each.repeat(times));
        expect(pieces.map((piece) => piece.text).join('')).toBe(sentence);
        for (const piece of pieces) {
          expect(piece.spoken.length).toBeLessThanOrEqual(SPEAK_TEXT_MAX_CHARS);
          if (sentence.isWellFormed()) expect(piece.text.isWellFormed()).toBe(true);
        }
      }),
    );
  });
});

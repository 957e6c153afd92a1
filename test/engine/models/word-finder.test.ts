import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WordFinder } from '../../../engine/models/word-finder.ts';

const found = (words: readonly string[], text: string): string[] =>
  new WordFinder(new Map(words.map((word) => [word, word])))
    .split(text)
    .flatMap(({ text: stretch, value }) => (value === undefined ? [] : [stretch]));

describe('the word finder', () => {
  it('finds whole words and phrases, the longer one first', () => {
    expect(found(['new york', 'new', 'york city'], 'New York, a new-york newer York City.')).toEqual([
      'New York',
      'new',
      'York City',
    ]);
  });

  it('finds words with capitals only as they are written, others in every case', () => {
    expect(found(['US', 'it'], 'US us Us it IT It')).toEqual(['US', 'it', 'IT', 'It']);
  });

  it('finds capitals as they are written before the same word in every case', () => {
    const finder = new WordFinder(
      new Map([
        ['us', 1],
        ['US', 2],
      ]),
    );
    expect(finder.split('US us Us').map(({ value }) => value)).toEqual([2, undefined, 1, undefined, 1]);
  });

  it('finds capitals that have been written apart', () => {
    expect(found(['SQL'], "SQL S Q L and S Q L's, S Q LX")).toEqual(['SQL', 'S Q L', 'S Q L']);
  });

  it('finds words beside marks, apostrophes and other scripts', () => {
    expect(found(["o'neil", 'müller', 'Ärger'], '(O’Neil)müller’s Ärger! ärger Müllerei')).toEqual([
      'O’Neil',
      'müller',
      'Ärger',
    ]);
  });

  it('loses nothing of any text', () => {
    const finder = new WordFinder(
      new Map([
        ['a b', 1],
        ['b', 2],
        ['SQL', 3],
        ['ß', 4],
      ]),
    );
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', 'b', ' ', 'S', 'Q', 'L', 'ß', 'İ', '\ud800', '-') }),
        (text) => {
          expect(
            finder
              .split(text)
              .map((stretch) => stretch.text)
              .join(''),
          ).toBe(text);
        },
      ),
    );
  });
});

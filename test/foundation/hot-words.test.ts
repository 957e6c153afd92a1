import { describe, expect, it } from 'vitest';
import { boundHotWords, hotWordsOfPrompt, requireHotWords, splitHotWords } from '../../src/foundation/hot-words.ts';

describe('hot words', () => {
  it('are parted by commas, semicolons and line breaks, each once', () => {
    expect(splitHotWords(' Müller, Trunkline;\nISDN line ,, Müller')).toEqual(['Müller', 'Trunkline', 'ISDN line']);
    expect(splitHotWords('')).toEqual([]);
  });

  it('are refused in a request where there are too many or too long ones, which are not repeated', () => {
    const many = Array.from({ length: 101 }, (_, n) => `w${n}`);
    expect(() => requireHotWords(many, 'hot_words')).toThrow('hot_words: got 101 hot words, expected at most 100');
    expect(() => requireHotWords(['x'.repeat(65)], 'hot_words')).toThrow(/got a hot word of 65 characters/);
    expect(boundHotWords([...many, 'x'.repeat(65)])).toHaveLength(100);
  });

  it.each([
    ['Müller, Trunkline, ISDN', ['Müller', 'Trunkline', 'ISDN']],
    ['Glossary: ZyntriQix, Digique Plus, CynapseFive.', ['ZyntriQix', 'Digique Plus', 'CynapseFive']],
    ['The following conversation is a lecture, with many words of all kinds.', []],
    ['Trunkline', []],
    ['', []],
  ])('are in the prompt %j: %j', (prompt, words) => {
    expect(hotWordsOfPrompt(prompt)).toEqual(words);
  });
});

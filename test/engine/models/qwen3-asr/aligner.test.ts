import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { mendTimes } from '../../../../engine/models/qwen3-asr/aligner/mend-times.ts';
import { canAlign, wordsToAlign } from '../../../../engine/models/qwen3-asr/aligner/words.ts';

/** What transformers 5.18 makes of times and texts: engine/export/qwen3-asr/alignment_cases.py. */
const golden = JSON.parse(readFileSync('fixtures/models/qwen3-asr/alignment.json', 'utf8')) as {
  readonly times: readonly (readonly [told: readonly number[], mended: readonly number[]])[];
  readonly words: readonly (readonly [text: string, words: readonly string[]])[];
};

describe('times that an aligner told', () => {
  it.each(golden.times.map(([told, mended], index) => ({ index, told, mended })))(
    'are mended as transformers does: case $index',
    ({ told, mended }) => {
      expect(mendTimes(told)).toEqual(mended);
    },
  );

  it('may be none', () => {
    expect(mendTimes([])).toEqual([]);
  });

  it('never fall', () => {
    for (const [told] of golden.times) {
      const mended = mendTimes(told);
      expect(mended).toEqual([...mended].sort((a, b) => a - b));
    }
  });
});

describe('words to align', () => {
  it.each(golden.words.map(([text, words]) => ({ text, words })))('of $text are those of transformers', (one) => {
    expect(wordsToAlign(one.text).map(({ read }) => read)).toEqual(one.words);
  });

  it('keep their marks in what is written', () => {
    expect(wordsToAlign('e\u0301te\u0301,').map(({ text }) => text)).toEqual(['e\u0301te\u0301']);
  });

  it('are known in the languages of the aligner that need no dictionary', () => {
    expect(['en', 'de-CH', 'yue', 'zh'].map(canAlign)).toEqual([true, true, true, true]);
    expect(['ja', 'ko', 'fi', ''].map(canAlign)).toEqual([false, false, false, false]);
  });
});

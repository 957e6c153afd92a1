import assert from 'node:assert/strict';
import { HOT_WORD_MAX_CHARS, HOT_WORDS_MAX } from '../../../engine/contract.ts';
import { calledNumber, NumberBook, parseNumbers } from '../../../src/calls/language/numbers-file.ts';
import { isLanguage } from '../../../src/calls/language/spoken-language.ts';
import { FileError } from '../../../src/foundation/yaml-text.ts';
import type { FuzzTarget } from '../fuzz.ts';

/** NUMBERS_FILE: each number that is read is found again, with a language that can be one and bounded hot words. */
export const target: FuzzTarget = {
  name: 'numbers-file',
  seeds: [
    'numbers:\n  - number: "+49 30 123456"\n    language: de\n    hotWords: [Müller, ISDN]\n' +
      '  - {number: "+49*", language: auto}\n',
    '{"numbers": [{"number": "sip:support@example.com", "language": "pt-BR"}, {"number": "*"}]}',
  ].map((text) => Buffer.from(text)),
  words: ['&a ', '*a', '<<: ', '? ', '|\n', '*', '"*"', 'tel:', 'sip:@', '+', '\ufeff', '٠', '---\n', 'english'],
  run(input) {
    try {
      const entries = parseNumbers(Buffer.from(input).toString('utf8'), 'numbers.yaml');
      const book = new NumberBook(entries);
      for (const entry of entries) {
        assert(entry.language === null || isLanguage(entry.language));
        assert(entry.hotWords.length <= HOT_WORDS_MAX);
        for (const word of entry.hotWords) assert(word !== '' && word.length <= HOT_WORD_MAX_CHARS);
        const found = book.find(entry.number);
        if (calledNumber(entry.number) === entry.number) assert(found !== null);
        if (!entry.isPattern && calledNumber(entry.number) === entry.number) assert.equal(found, entry);
      }
    } catch (error) {
      assert(error instanceof FileError, error as Error);
    }
  },
};

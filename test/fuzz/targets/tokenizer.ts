import assert from 'node:assert/strict';
import { splitAtSpeltLetters } from '../../../engine/models/hibari/phonemes/spelt-letters.ts';
import { newToken } from '../../../engine/models/hibari/phonemes/token.ts';
import { Tokenizer } from '../../../engine/models/hibari/phonemes/tokenizer.ts';
import { groupWords } from '../../../engine/models/hibari/phonemes/words.ts';
import type { FuzzTarget } from '../fuzz.ts';

/** As many as one job may hold. */
const TEXT_MAX_CHARS = 1000;
const WORD_MAX_PARTS = 32;
const tokenizer = new Tokenizer(
  new Map([
    ["don't", ['do', "n't"]],
    ['10am', ['10', 'am']],
    [':)', [':)']],
    ['Sept.', ['Sept.']],
  ]),
);

/** Tokens lose no character but white space, and words no token. UTF-16, so that halves of characters come, too. */
export const target: FuzzTarget = {
  name: 'tokenizer',
  seeds: [
    "I don't (really) know: it's 10am on Sept. 5th, $5.00 or 5km...",
    'https://example.com/a-b?c=d me@example.com “quoted”—dash… naïve B2B iPhone 90’s',
    '😀 مرحبا 你好 e\u0301 x² ½ ٣ a-a-a-a-a-a ((((( .....',
  ].map((text) => Buffer.from(text, 'utf16le')),
  words: [' ', '-', '...', "'s", '$5', '٣', '😀'].map((word) => Buffer.from(word, 'utf16le').toString('latin1')),
  run(input) {
    const text = Buffer.from(input).toString('utf16le').slice(0, TEXT_MAX_CHARS);
    const pieces = splitAtSpeltLetters(text, (stretch) => tokenizer.split(stretch));
    for (const tag of ['NN', 'CD', '$', ':', ',']) {
      const words = groupWords(pieces.map((piece) => newToken(piece.text, tag, piece.space)));
      assert(words.every((parts) => parts.length > 0 && parts.length <= WORD_MAX_PARTS));
    }
    const letters = (whole: string): string => whole.replace(/[^\p{L}\p{N}]/gu, '');
    // Piece by piece: two halves of characters that a space parted would be one without it.
    assert.equal(pieces.map((piece) => letters(piece.text)).join(''), letters(text));
  },
};

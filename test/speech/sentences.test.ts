import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SentenceSplitter } from '../../src/speech/sentences.ts';

/** Sentences of a text that comes at once; the first one is not cut at a clause. */
function split(text: string): string[] {
  const splitter = new SentenceSplitter({ firstClauseChars: Number.POSITIVE_INFINITY });
  return [...splitter.push(text), ...splitter.flush()];
}

/** The same text by pieces of the given lengths, over and over. */
function splitByPieces(text: string, lengths: readonly number[], firstClauseChars?: number): string[] {
  const splitter = new SentenceSplitter(firstClauseChars === undefined ? {} : { firstClauseChars });
  const sentences: string[] = [];
  for (let at = 0, n = 0; at < text.length; n++) {
    const length = lengths[n % lengths.length] ?? 1;
    sentences.push(...splitter.push(text.slice(at, at + length)));
    at += length;
  }
  return [...sentences, ...splitter.flush()];
}

/** Where sentences end is marked by `|`; white space goes with the sentence in front of it. */
const CASES = [
  'One.| Two?| Three!| Four',
  'Really?!| Yes... | No',
  'It costs 3.14 dollars.| Good.',
  'Version v2.0.1 is out.| Get it.',
  'Dr. Smith met Mrs. Jones.| They talked.',
  'Mr. J. R. R. Tolkien wrote it.| Read it.',
  'J. A. Smith called.',
  'I got an A. | I was glad.',
  'So do I.| Then we agree.',
  'We live in the U.S. Army base.',
  'We live in the U.S.| It is large.',
  'She has a Ph.D. in physics.',
  'She has a Ph.D.| She teaches.',
  'Call at 3 p.m. on Monday.| Bye.',
  'Call at 3 p.m.| Please be on time.',
  'Call at 3 p.m. Eastern.| Bye.',
  'Call at 3 p.m. Monday.| Bye.',
  'Fruits, nuts, etc. are fine.| Ok.',
  'Fruits, nuts, etc.| Other things are not.',
  'e.g. this, i.e. That.',
  'Apples vs. Oranges.| Choose.',
  'Item No. 5 is here.| Take it.',
  'The answer is no.| We looked twice.',
  'Call ext. 42 now.| Thanks.',
  'He lives on Main St. near me.',
  'He lives on Main St.| The house is old.',
  'St. Mary is here.',
  'Acme Inc. Reports are late.',
  'He works at Acme Inc.| He likes it.',
  'Paid on Jan. 5 by card.| Thanks.',
  'Visit www.example.com.| It is free.',
  'See https://example.com/a?b=c.d!e now.| Ok.',
  'Write to jo.doe@example.co.uk.| We answer.',
  'He said "Stop." and left.',
  'He said "Stop."| Then he left.',
  '"Really?" she asked.| "Yes."',
  'Wow!| that is great.',
  '(See above.)| Next one.',
  'It is (wow!) and so on.| End.',
  '**Bold.**| Plain.',
  'Wait… what?| Fine.',
  'Wait…| Then go.',
  'Hmm... let me see.| Here it is.',
  'Hmm...| Let me see.',
  '1. Open the box.| Then wait.',
  'Steps:\n|1. Open it.\n|2. Close it.',
  'You need:\n|- milk\n|- eggs',
  'a line that\ngoes on here.| Next',
  'First paragraph\n\n|second paragraph',
  'Hello.\n|world',
  '今日は。|元気ですか？|はい！|「そうです。」|終わり',
  '你好。你好'.replace('。', '。|'),
  'नमस्ते।| आप कैसे हैं',
  'Great!| 🎉 Done.',
  'Use Node.js.| It is fast.',
  'Temp. is 5.| Next.',
  '¿Cómo estás?| ¡Bien!| Gracias.',
  'It is 5.| 6 is more.',
  'Plan B. | We go.',
  'Yes .| No',
];

const unmarked = (marked: string): string => marked.replaceAll('|', '');

describe('SentenceSplitter', () => {
  it.each(CASES)('cuts %j', (marked) => {
    const sentences = split(unmarked(marked)).map((sentence) => sentence.trim());
    expect(sentences).toEqual(marked.split('|').map((sentence) => sentence.trim()));
  });

  it('gives a sentence as soon as the next one has begun', () => {
    const splitter = new SentenceSplitter();
    expect(splitter.push('Sure.')).toEqual([]);
    expect(splitter.push(' ')).toEqual([]);
    expect(splitter.push('W')).toEqual(['Sure. ']);
    expect(splitter.push('hen?')).toEqual([]);
    expect(splitter.flush()).toEqual(['When?']);
  });

  it.each([
    ['Thank you for calling Harbor, how can I help you?', ['Thank you for calling Harbor, ', 'how can I help you?']],
    ['Yes, of course, I can do that for you right now.', ['Yes, of course, I can do that for you right now.']],
    ['The appointment is on May 5, 2024 at noon.', ['The appointment is on May 5, 2024 at noon.']],
    ['We are open from Monday 5–10 and so on.', ['We are open from Monday 5–10 and so on.']],
    ['That is a good question — let me look it up.', ['That is a good question — ', 'let me look it up.']],
    ['That is a good question—let me look it up.', ['That is a good question—', 'let me look it up.']],
    ['That is a well-known and good question to ask.', ['That is a well-known and good question to ask.']],
    [
      'I have looked at all of the records that we hold and there is nothing.',
      ['I have looked at all of the records that we hold ', 'and there is nothing.'],
    ],
  ])('cuts a long first sentence at a clause: %j', (text, sentences) => {
    expect(splitByPieces(text, [1])).toEqual(sentences);
  });

  it('cuts only the first sentence at a clause', () => {
    const text = 'Good. The second sentence is rather long, but it is whole.';
    expect(splitByPieces(text, [3])).toEqual(['Good. ', 'The second sentence is rather long, but it is whole.']);
  });

  it('gives the first clause before the sentence is complete', () => {
    const splitter = new SentenceSplitter();
    expect(splitter.push('Thank you for calling Harbor Internet, how')).toEqual([
      'Thank you for calling Harbor Internet, ',
    ]);
  });

  it('begins a new text after flush', () => {
    const splitter = new SentenceSplitter();
    for (const _ of [1, 2]) {
      expect(splitter.push('Thank you for calling Harbor, how')).toEqual(['Thank you for calling Harbor, ']);
      expect(splitter.flush()).toEqual(['how']);
    }
  });

  it('cuts a sentence without a stop at a space, behind a comma where there is one', () => {
    const words = 'word '.repeat(100);
    expect(split(words).map((sentence) => sentence.length)).toEqual([300, 200]);
    const sentences = split(`${'word '.repeat(50)}word, ${'word '.repeat(50)}`);
    expect(sentences[0]?.endsWith('word, ')).toBe(true);
  });

  it('cuts a word without an end in the middle, but no character', () => {
    expect(split('x'.repeat(650)).map((sentence) => sentence.length)).toEqual([300, 300, 50]);
    expect(split(`x${'🎉'.repeat(200)}`).map((sentence) => sentence.length)).toEqual([299, 102]);
  });

  it('holds no more than a bounded stretch, whatever comes', () => {
    for (const piece of ['. ', '!', ' ', '\n', '"', 'U.S. ', 'x', '…', ', ', 'Dr. ', '\ud83c']) {
      const splitter = new SentenceSplitter();
      let given = 0;
      for (let n = 0; n < 2000; n++) given += splitter.push(piece).reduce((sum, { length }) => sum + length, 0);
      expect(2000 * piece.length - given).toBeLessThan(400);
    }
  });

  const tokens = [
    ...[
      'Dr',
      '.',
      '. ',
      '? ',
      '! ',
      '…',
      '... ',
      ' ',
      '\n',
      '\n\n',
      '  ',
      ', ',
      '; ',
      ' — ',
      '—',
      ': ',
      '"',
      '”',
      ')',
      '(',
      '*',
      "'",
    ],
    ...[
      'U.S',
      'a.m',
      'p.m',
      'e.g',
      'No',
      'I',
      'The',
      'the',
      'and',
      ' because ',
      'Monday',
      '3.14',
      '5',
      '1',
      '- ',
      'etc',
      'St',
      'J',
    ],
    ...['。', '！', '」', '🎉', '\ud83c', '\udf89', 'é', 'x'.repeat(50), 'word ', 'https://a.b/c?d=e', ' '.repeat(25)],
  ];
  const text = fc.oneof(
    fc.array(fc.constantFrom(...tokens), { maxLength: 60 }).map((parts) => parts.join('')),
    fc.string({ unit: 'grapheme', maxLength: 200 }),
  );

  it('gives back exactly what came in', () => {
    fc.assert(fc.property(text, (whole) => splitByPieces(whole, [7]).join('') === whole));
  });

  it('cuts the same however the text is dealt out', () => {
    const lengths = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 10 });
    const firstClause = fc.constantFrom(undefined, 5);
    fc.assert(
      fc.property(text, lengths, firstClause, (whole, pieces, chars) => {
        expect(splitByPieces(whole, pieces, chars)).toEqual(splitByPieces(whole, [whole.length], chars));
      }),
      { numRuns: 500 },
    );
  });

  it('gives no sentence that is empty or longer than a synthesizer takes', () => {
    fc.assert(
      fc.property(text, (whole) => splitByPieces(whole, [11]).every(({ length }) => length > 0 && length < 400)),
    );
  });
});

import { describe, expect, it } from 'vitest';
import { capitalise, isDigits, plainDigits } from '../../../../engine/models/hibari/phonemes/characters.ts';
import { findMembers, JsonIndex, readValue } from '../../../../engine/models/hibari/phonemes/json-index.ts';
import {
  cardinalWords,
  decimalWords,
  ordinalWords,
  yearWords,
} from '../../../../engine/models/hibari/phonemes/number-words.ts';
import { splitAtSpeltLetters } from '../../../../engine/models/hibari/phonemes/spelt-letters.ts';
import {
  applyStress,
  EMPHASISED,
  STRESSED,
  UNSTRESSED,
  WEAK,
} from '../../../../engine/models/hibari/phonemes/stress.ts';
import { Tagger } from '../../../../engine/models/hibari/phonemes/tagger.ts';
import { Tokenizer } from '../../../../engine/models/hibari/phonemes/tokenizer.ts';

describe('an index of a JSON text', () => {
  const json = Buffer.from(' { "a" : "x", "ä\\"b": {"N": null, "V": [1, "}"]}, "\\u0041": 3.5, "": true } '.trim());
  const index = new JsonIndex(json);

  it('finds what stands behind each key', () => {
    expect(['a', 'ä"b', 'A', '', 'b', 'x', 'a'.repeat(1000), '\ud800'].map((key) => index.get(key))).toEqual([
      'x',
      { N: null, V: [1, '}'] },
      3.5,
      true,
      ...Array(4).fill(undefined),
    ]);
    expect(index.has('a')).toBe(true);
  });

  it('finds the strings of an array', () => {
    const strings = new JsonIndex(Buffer.from('{"list":["a","b"]}'), 8);
    expect(['a', 'b', 'c'].map((text) => strings.has(text))).toEqual([true, true, false]);
  });

  it('finds all keys among many', () => {
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i * 7}`, i]));
    const indexed = new JsonIndex(Buffer.from(JSON.stringify(many)));
    expect(Object.keys(many).filter((key) => indexed.get(key) !== many[key])).toEqual([]);
    expect(indexed.has('k1')).toBe(false);
  });

  it('has the members of an object', () => {
    const members = findMembers(json);
    expect([...members.keys()]).toEqual(['a', 'ä"b', 'A', '']);
    expect(readValue(json, members.get('A') ?? 0)).toBe(3.5);
  });

  it.each(['', '[', '{"a', '{"a":', '{"a":"b', '{"a":"b"', '{"a" "b"}', '{a:1}', '5', '{"a":{"b":1}'])(
    'is refused to %j',
    (text) => {
      expect(() => findMembers(Buffer.from(text))).toThrow(/expected|ends inside/);
    },
  );
});

describe('the tagger', () => {
  const model = {
    tags: ['NN', 'VB', 'DT'],
    tagdict: { the: 'DT' },
    vocab: ['the', 'record'],
    weights: {
      b: { NN: 1.5 },
      't-1=-START-': { VB: 2 },
      'w-1=the': { NN: 0.2, VB: 0.2 },
      'w=<x>': { DT: 1.7, VB: 1.7 },
    },
  };

  it('takes the tag with most votes, and of equal ones the later in the alphabet', () => {
    const tagger = new Tagger(Buffer.from(JSON.stringify(model)));
    expect(tagger.tag(['record', 'the', 'record', 'foo'])).toEqual(['VB', 'DT', 'NN', 'VB']);
    expect(tagger.tag([])).toEqual([]);
  });

  it('says what its model lacks', () => {
    expect(() => new Tagger(Buffer.from('{"tags":[],"tagdict":{},"vocab":[]}'))).toThrow('the tagger has no weights');
  });
});

describe('the tokenizer', () => {
  const tokenizer = new Tokenizer(
    new Map([
      ["don't", ['do', "n't"]],
      ['Sept.', ['Sept.']],
      ['10am', ['10', 'am']],
      [':)', [':)']],
    ]),
  );
  it.each([
    ["I don't, (really)!", ['I', 'do', "n't", ',', '(', 'really', ')', '!']],
    ['at 10am on Sept. 5th.', ['at', '10', 'am', 'on', 'Sept.', '5th', '.']],
    ['mother-in-law’s and/or $5.00', ['mother', '-', 'in', '-', 'law', '’s', 'and', '/', 'or', '$', '5.00']],
    ['me@example.com www.example.org/a-b 5km', ['me@example.com', 'www.example.org/a-b', '5', 'km']],
    ['well... "quoted" a—b c,d', ['well', '...', '"', 'quoted', '"', 'a', '—', 'b', 'c', ',', 'd']],
    ['hello:) ..... U.S.', ['hello', ':)', '.....', 'U.S.']],
    [' \t\n\u2003 ', []],
  ])('cuts %j', (text, words) => {
    const pieces = tokenizer.split(text);
    expect(pieces.map((piece) => piece.text)).toEqual(words);
  });

  it('knows after which of them a space was', () => {
    expect(tokenizer.split("don't go. ").map(({ space }) => space)).toEqual([false, true, false, true]);
  });
});

describe('numbers in words', () => {
  it.each([
    ['0', 'zero', 'zeroth'],
    ['0012', 'twelve', 'twelfth'],
    ['1001', 'one thousand one', 'one thousand first'],
    ['20000340', 'twenty million three hundred forty', 'twenty million three hundred fortieth'],
    ['1000000000000000000000000000000000', 'one decillion', 'one decillionth'],
    ['2'.repeat(37), Array(37).fill('two').join(' '), `${'two '.repeat(36)}second`],
  ])('%s', (digits, cardinal, ordinal) => {
    expect(cardinalWords(digits)).toBe(cardinal);
    expect(ordinalWords(digits)).toBe(ordinal);
  });

  it.each([
    ['1066', 'ten sixty six'],
    ['1900', 'nineteen hundred'],
    ['2000', 'two thousand'],
    ['2010', 'twenty ten'],
    ['0007', 'seven'],
  ])('%s as a year', (digits, words) => {
    expect(yearWords(digits)).toBe(words);
  });

  it('have their decimals one by one', () => {
    expect(['3.140', '.5', '2.0', '7.'].map(decimalWords)).toEqual([
      'three point one four',
      'zero point five',
      'two',
      'seven',
    ]);
  });
});

describe('characters', () => {
  it('of other scripts are digits, too', () => {
    expect(plainDigits('٣४❷x²')).toBe('342x²');
    expect([isDigits('٣²❷'), isDigits('½'), isDigits('')]).toEqual([true, false, false]);
  });

  it('get a capital at the head of a word', () => {
    expect(['aBC', 'ßa', 'ﬁn', '', '😀A'].map(capitalise)).toEqual(['Abc', 'Ssa', 'Fin', '', '😀a']);
  });
});

describe('stress', () => {
  it.each([
    ['kˈætˌO', UNSTRESSED, 'kætO'],
    ['kˈætˌO', WEAK, 'kˌætO'],
    ['kæt', STRESSED, 'kˌæt'],
    ['kˌæt', EMPHASISED, 'kˈæt'],
    ['kæt', EMPHASISED, 'kˈæt'],
    ['kˈæt', null, 'kˈæt'],
    ['s', EMPHASISED, 's'],
  ] as const)('of %s changed by %s', (phonemes, stress, changed) => {
    expect(applyStress(phonemes, stress)).toBe(changed);
  });
});

describe('letters written apart', () => {
  const wordsOf = (text: string): string =>
    splitAtSpeltLetters(text, (stretch) => [{ text: stretch, space: false }])
      .map(({ text: word, space }) => `<${word}>${space ? '_' : ''}`)
      .join('');

  it.each([
    ['Use S Q L or A T M.', '<Use ><S.Q.L>_< or ><A.T.M><.>'],
    ["two U R L's and a Q.", "<two ><U.R.L><'s and a Q.>"],
    ['At nine a m, or five p m', '<At nine ><a.m><, or five ><p.m><>'],
    ["I'm a mother. A man. I X' X.Y", "<I'm a mother. A man. I X' X.Y>"],
    ['É A Bee', '<É A Bee>'],
  ])('are one word: %s', (text, words) => {
    expect(wordsOf(text)).toBe(words);
  });
});

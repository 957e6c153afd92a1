import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutClauses } from '../../../../engine/models/hibari/phonemes/clauses.ts';
import { Dictionary } from '../../../../engine/models/hibari/phonemes/dictionary.ts';
import { JsonIndex } from '../../../../engine/models/hibari/phonemes/json-index.ts';
import { LineReader } from '../../../../engine/models/hibari/phonemes/line-reader.ts';
import { newToken } from '../../../../engine/models/hibari/phonemes/token.ts';
import type { Accent } from '../../../../engine/models/phoneme-symbols.ts';
import { GOLD, SILVER } from './small-lexicon.ts';

const indexOf = (words: object): JsonIndex => new JsonIndex(Buffer.from(JSON.stringify(words)));
const dictionary = new Dictionary({ gold: indexOf(GOLD), silver: indexOf(SILVER) });
const unknown = { read: async (word: string) => `<${word}>` };
const readers = {
  us: new LineReader({ dictionary, unknown, accent: 'us' }),
  gb: new LineReader({ dictionary, unknown, accent: 'gb' }),
};

/** `I|PRP read|VBD` in phonemes: words with their tags, NN where none is given. */
async function say(line: string, accent: Accent = 'us'): Promise<string> {
  const tokens = line.split(' ').map((word, at, words) => {
    const [, text = '', tag = 'NN'] = /^(.*?)(?:\|(\S+))?$/.exec(word) ?? [];
    return newToken(text, tag, at < words.length - 1);
  });
  const words = await readers[accent].read(tokens);
  return words.map(({ phonemes, space }) => phonemes + (space ? ' ' : '')).join('');
}

describe('words', () => {
  it.each([
    ['cat cats cat’s dish dishes', 'kˈæt kˈæts kˈæts dˈɪʃ dˈɪʃᵻz'],
    ['want wanted wanting wait waited waiting', 'wˈɑnt wˈɑntᵻd wˈɑntɪŋ wˈAt wˈATᵻd wˈATɪŋ'],
    ['stop stops stopping', 'stˈɑp stˈɑps stˈɑpɪŋ'],
    ['Cat CAT', 'kˈæt kˈæt'],
  ])('have their stem: %s', async (line, phonemes) => {
    expect(await say(line)).toBe(phonemes);
  });

  it('in -s, -ed and -ing are British with the other accent', async () => {
    expect(await say('dishes wanted waiting', 'gb')).toBe('dˈɪʃɪz wˈɑntɪd wˈAtɪŋ');
  });

  it('are said by their part of speech', async () => {
    expect(await say('record|NN record|VB record|VBP')).toBe('ɹˈɛkəɹd ɹəkˈɔɹd ɹəkˈɔɹd');
  });

  it('are said by what follows', async () => {
    expect(await say('the|DT cat')).toBe('ðə kˈæt');
    expect(await say('the|DT apple')).toBe('ði ˈæpᵊl');
    expect(await say('a|DT cat to|TO apple')).toBe('ɐ kˈæt tʊ ˈæpᵊl');
    expect(await say('used|VBD to|TO cat')).toBe('jˈust tə kˈæt');
    expect(await say('used|VBD cat in|IN')).toBe('jˈuzd kˈæt ˈɪn');
  });

  it('of capitals and with stops are spelt, the last letter stressed', async () => {
    expect(await say('ABC|NNP A.C.')).toBe('ˌAbˌisˈi ˌAsˈi');
  });

  it('that no lexicon has are read by the network, with the words that they are joined to', async () => {
    expect(await say('zyx zyx-cat cat-zyx')).toBe('<zyx> <zyx> <cat> <cat> <zyx>');
    expect(await say('zyx21/zyx')).toBe('<zyx> twˈɛnti wˈʌn slˈæʃ <zyx>');
  });
});

describe('numbers', () => {
  it.each([
    ['21|CD', 'twˈɛnti wˈʌn'],
    ['1905|CD', 'nˌInˈtin ˈO fˈIv'],
    ['2005|CD', 'tˈu θˈWzᵊnd fˈIv'],
    ['90s|CD', 'nˈIndiz'],
    ['21st|CD', 'twˈɛnti fˈɜɹst'],
    ['1.20|CD', 'wˈʌn pYnt tˈu'],
    ['$|$ 2.05|CD', ' tˈu dˈɑləɹz ænd fˈIv sˈɛnts'],
    ['$|$ 1|CD', ' wˈʌn dˈɑləɹ'],
    ['£|$ 2.02|CD', ' tˈu pˈWndz ænd tˈu pˈɛns'],
    ['-2|CD', 'mˈInəs tˈu'],
  ])('%s', async (line, phonemes) => {
    expect(await say(line)).toBe(phonemes);
  });

  it('of any length are said', async () => {
    expect(await say(`${'2'.repeat(40)}|CD`)).toBe(Array(40).fill('tˈu').join(' '));
  });
});

describe('any line', () => {
  const text = fc.string({
    unit: fc.constantFrom(
      ...'aBI2.,-_\'’$%&/—"(',
      '\ud800',
      '😀',
      'م',
      '你',
      '²',
      '\u0301',
      'ß',
      'ﬁ',
      'İ',
      'cat',
      'to',
    ),
    minLength: 1,
    maxLength: 40,
  });
  const tag = fc.constantFrom('NN', 'CD', '$', ':', ',', 'DT', 'ADD', 'IN', 'XX');

  it('is said, and its clauses are what is said of it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.record({ text, tag, space: fc.boolean() }), { maxLength: 12 }), async (line) => {
        const tokens = line.map((word) => newToken(word.text, word.tag, word.space));
        const words = await readers.us.read(tokens);
        const whole = words.map(({ phonemes, space }) => phonemes + (space ? ' ' : '')).join('');
        for (const maxPhonemes of [7, 400]) {
          const clauses = cutClauses(words, maxPhonemes);
          expect(clauses.map(({ phonemes }) => phonemes).join('')).toBe(whole.trim());
          expect(clauses.every(({ phonemes }) => phonemes !== '' && phonemes.length <= maxPhonemes)).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('a clause that is too long', () => {
  const read = (text: string) => text.split(' ').map((word) => ({ text: word, phonemes: word, space: true }));
  const cut = (text: string, maxPhonemes: number) => cutClauses(read(text), maxPhonemes).map((clause) => clause.text);

  it('is cut where a speaker would breathe', () => {
    expect(cut('the card is on its way to you and will come on friday', 40)).toEqual([
      'the card is on its way to you ',
      'and will come on friday ',
    ]);
    expect(cut('please leave your number after the long tone', 30)).toEqual([
      'please leave your number ',
      'after the long tone ',
    ]);
  });

  it('is cut between any two words where there is no such place in its second half', () => {
    expect(cut('and four five six seven eight', 20)).toEqual(['and four five six ', 'seven eight ']);
  });
});

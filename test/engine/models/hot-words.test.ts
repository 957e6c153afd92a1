import { describe, expect, it } from 'vitest';
import { HotWordLists, HotWordSearch, HotWords } from '../../../engine/models/hot-words.ts';
import { PieceEncoder } from '../../../engine/models/piece-encoder.ts';

const PIECES = [
  '<unk>',
  '<s>',
  '</s>',
  '\u2581',
  'K',
  'o',
  'v',
  'a',
  'c',
  'k',
  'A',
  '-',
  'ov',
  'ac',
  '\u2581K',
  '\u2581Kov',
  '\u2581a',
];
PIECES.push('\u2581and', '\u2581Cove', '東', '京', '東京', '\u2581cat', 'KA');
const [KOV, AC, CAT, AND, COVE, END] = [15, 13, 22, 17, 18, 2];
const encoder = new PieceEncoder(PIECES);
const vocabulary = {
  encode: (text: string) => encoder.encode(text),
  textOf: (token: number) => (PIECES[token] ?? '').replaceAll('\u2581', ' '),
};
const hotWords = (...words: string[]) => new HotWords(words, vocabulary);

/** Decodes with given logits: at each step those that are named, all others 0. */
function decode(words: HotWords, steps: readonly Readonly<Record<number, number>>[]): number[] {
  const search = new HotWordSearch(words);
  for (let step = 0; step < 20 && search.tokens.length < steps.length; step++) {
    const logits = steps[search.tokens.length] ?? {};
    const logitOf = (token: number) => logits[token] ?? 0;
    const likeliest = PIECES.map((_, token) => token).sort((a, b) => logitOf(b) - logitOf(a))[0] ?? 0;
    search.choose(likeliest, logitOf);
  }
  return search.tokens.slice(0, search.end());
}

describe('PieceEncoder', () => {
  it('merges the pair first that was learnt first', () => {
    expect(encoder.encode(' Kovac')).toEqual([KOV, AC]);
    expect(encoder.encode('東京')).toEqual([21]);
  });

  it('gives nothing for what cannot be written', () => {
    expect(encoder.encode(' Žižek')).toEqual([]);
  });
});

describe('HotWords', () => {
  it('begins a word anywhere with its space, and without one only where no word stands before', () => {
    const words = hotWords('kova');
    expect([...words.bias([]).keys()].sort()).toEqual([3, 4, 9, KOV].sort());
    expect([...words.bias([CAT]).keys()].sort()).toEqual([3, KOV].sort());
    expect(words.bias([11]).has(9)).toBe(true);
  });

  it('adds more to what goes on with a word than to what begins one', () => {
    const words = hotWords('Kovac');
    expect(words.bias([CAT, KOV]).get(AC) ?? 0).toBeGreaterThan(words.bias([CAT]).get(KOV) ?? 0);
    expect(words.bias([CAT, KOV, AC]).has(AC)).toBe(false);
  });

  it('begins words of scripts without spaces anywhere', () => {
    expect(hotWords('東京').bias([CAT]).has(21)).toBe(true);
  });

  it('leaves out words that cannot be written', () => {
    expect(hotWords('Žižek', ' ').isEmpty).toBe(true);
  });
});

describe('HotWordSearch', () => {
  const kovac = hotWords('Kovac');

  it('prefers a hot word that is almost as likely', () => {
    expect(
      decode(kovac, [
        { [COVE]: 10, [KOV]: 8 },
        { [AND]: 9, [AC]: 6 },
      ]),
    ).toEqual([KOV, AC]);
  });

  it('leaves the text as it is where a hot word is unlikely', () => {
    expect(decode(kovac, [{ [COVE]: 10, [KOV]: 2 }, { [AND]: 9 }])).toEqual([COVE, AND]);
  });

  it('does not go on with a word that would cost too much in all, however near each token is', () => {
    const dear = [{ [COVE]: 10, [KOV]: 7.5 }, { [AND]: 9, [AC]: 1.5 }, { [END]: 9, 5: 4 }, { [END]: 9 }];
    expect(decode(hotWords('Kovaco'), dear)).toEqual([COVE, AND, END, END]);
    const cheap = [{ [COVE]: 10, [KOV]: 9 }, { [AND]: 9, [AC]: 4 }, { [END]: 9, 5: 5 }, { [END]: 9 }];
    expect(decode(hotWords('Kovaco'), cheap)).toEqual([KOV, AC, 5, END]);
  });

  it('takes a word back that is not completed, and does not try it there again', () => {
    expect(decode(kovac, [{ [COVE]: 10, [KOV]: 9 }, { [AND]: 9, [AC]: 1 }, { [END]: 9 }])).toEqual([COVE, AND, END]);
  });

  it('takes a word back that goes on otherwise, and keeps it where the word ends', () => {
    const steps = (next: number) => [{ [COVE]: 10, [KOV]: 9 }, { [AND]: 9, [AC]: 8 }, { [next]: 9 }, { [END]: 9 }];
    expect(decode(kovac, steps(7))).toEqual([COVE, AND, 7, END]);
    expect(decode(kovac, steps(11))).toEqual([KOV, AC, 11, END]);
  });

  it('takes a word back that the end of the text breaks off', () => {
    expect(decode(kovac, [{ [COVE]: 10, [KOV]: 9 }])).toEqual([]);
    expect(decode(kovac, [{ [COVE]: 10, [KOV]: 9 }, { [END]: 20 }])).toEqual([COVE, END]);
  });

  it('does not take back what the recogniser chose itself', () => {
    expect(decode(kovac, [{ [KOV]: 10 }, { [AND]: 20 }])).toEqual([KOV, AND]);
  });

  it('stops to try what costs more than the text', () => {
    const digits = Array.from({ length: 40 }, () => 'a');
    const long = hotWords(digits.join(' '));
    const search = new HotWordSearch(long);
    let choices = 0;
    // Nearly said: the hot word goes on as long as it can, and is broken at its last token each time.
    for (; search.tokens.length < 200 && choices < 10_000; choices++) {
      const [token = CAT] = [...long.bias(search.tokens).keys()];
      const isBroken = search.tokens.length > 38 && search.tokens.slice(-39).every((each) => each === token);
      search.choose(CAT, (other) => (other === CAT ? (isBroken ? 20 : 2) : 0));
    }
    expect(search.tokens).toHaveLength(200);
    expect(choices).toBeLessThan(600);
  });
});

describe('HotWordLists', () => {
  it('keeps a list for the jobs that come with the same one', () => {
    const lists = new HotWordLists(vocabulary);
    expect(lists.of(['Kovac'])).toBe(lists.of(['Kovac']));
    expect(lists.of(['Kova', 'c'])).not.toBe(lists.of(['Kova,c']));
    expect(lists.of([])).toBeNull();
    expect(lists.of(['Žižek'])).toBeNull();
  });

  it('forgets lists, and does not keep one that would fill it', () => {
    const lists = new HotWordLists({ ...vocabulary, encode: (text) => Array.from({ length: 600 }, () => text.length) });
    const first = lists.of(['first']);
    for (let list = 0; list < 100; list++) lists.of([`${list}`]);
    expect(lists.of(['first'])).not.toBe(first);
  });
});

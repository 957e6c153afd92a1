import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { FileError } from '../../src/foundation/yaml-text.ts';
import { CardDeck } from '../../src/hints/card-deck.ts';
import { parseCards } from '../../src/hints/cards.ts';

const card = (more: string) => `cards:\n  - title: T\n    text: X\n    ${more}\n`;
const deckOf = (...mores: string[]) =>
  new CardDeck(
    parseCards(`cards:\n${mores.map((more, at) => `  - { title: T${at}, text: X, ${more} }`).join('\n')}`, 'h.yaml'),
  );
const found = (deck: CardDeck, text: string, newFrom = 0) =>
  deck.find(text, newFrom, 'inbound').map(({ card: { title }, words }) => [title, words]);

describe('a hints file', () => {
  it('has cards with words or a pattern, and what a model should know', () => {
    const { about, cards } = parseCards(`about: We sell lines.\n${card('words: [Very slow, "don\'t"]')}`, 'h.yaml');
    expect([about, cards]).toMatchObject([
      'We sell lines.',
      [{ title: 'T', text: 'X', link: null, track: 'both', once: true, phrases: [['very', 'slow'], ['dont']] }],
    ]);
    expect(parseCards('cards: []', 'h.yaml')).toEqual({ about: '', cards: [] });
  });

  it('in the examples can be used, and each of its cards can come', () => {
    const deck = new CardDeck(parseCards(readFileSync('examples/hints.yaml', 'utf8'), 'examples/hints.yaml'));
    const said = "It keeps dropping, I want to cancel and I want a REFUND, here's my credit-card.";
    expect(found(deck, said).map(([title]) => title)).toEqual([
      'Slow connection',
      'Wants to cancel',
      'Card numbers',
      'Refund',
    ]);
  });

  it.each([
    ['nothing', '', 'h.yaml:1:1: the file: got nothing, expected lines such as "about: …"'],
    [
      'a typo',
      card('wrods: [a]'),
      'h.yaml:4:5: cards.0.wrods: is unknown, did you mean words? expected words, pattern',
    ],
    ['neither words nor a pattern', card('once: true'), 'h.yaml:2:5: cards.0: expected either words or pattern'],
    ['both', card('words: [a]\n    pattern: b'), 'cards.0: expected either words or pattern'],
    ['words without a word', card('words: [ok, "?!"]'), 'h.yaml:4:17: cards.0.words.1: expected a word or a figure'],
    ['a phrase like a sentence', card(`words: ["${'a '.repeat(13)}"]`), 'got 13 words, expected at most 12'],
    ['look-ahead', card('pattern: a(?=b)'), 'h.yaml:4:14: cards.0.pattern: '],
    [
      'a pattern that matches nothing',
      card('pattern: a*'),
      'cards.0.pattern: got a pattern that matches an empty text',
    ],
    ['patterns that take long', card('pattern: "(a{90}b{90}){9}"'), 'cards.0.pattern: '],
    [
      'a link that runs code',
      card('words: [a]\n    link: "javascript:alert(1)"'),
      'h.yaml:5:11: cards.0.link: expected',
    ],
    ['a title twice', `${card('words: [a]')}${card('words: [b]').slice(7)}`, 'h.yaml:5:12: cards.1.title: there is a'],
    ['a key twice', card('text: Y\n    words: [a]'), 'h.yaml:4:5: the same key stands above'],
    ['aliases', 'cards:\n  - &a { title: T, text: X, words: [a] }\n  - *a\n', 'aliases'],
    [
      'too many cards',
      `cards:\n${'  - { title: a, text: b, words: [c] }\n'.repeat(501)}`,
      'cards: got a list, expected at most 500 entries',
    ],
  ])('is refused for %s, with the place', (_what, text, message) => {
    const parse = () => parseCards(text, 'h.yaml');
    expect(parse).toThrow(FileError);
    expect(parse).toThrow(message);
  });
});

describe('cards', () => {
  it('come by whole words, whatever case and signs', () => {
    const deck = deckOf('words: [slow]', 'words: [very slow line]', 'words: ["24"]', 'words: ["don\'t"]');
    expect(found(deck, 'Very SLOW, line – I dont know; 24!')).toEqual([
      ['T1', 'Very SLOW, line'],
      ['T0', 'SLOW'],
      ['T3', 'dont'],
      ['T2', '24'],
    ]);
    expect(found(deck, 'slowly, 241, very slow')).toEqual([['T0', 'slow']]);
  });

  it('come by a phrase that ends in what is new, not by one that was there before', () => {
    const deck = deckOf('words: [cancel my contract]', 'pattern: "my c\\\\w+"', 'words: [cancel]');
    expect(found(deck, 'I want to cancel my contract today', 20)).toEqual([
      ['T0', 'cancel my contract'],
      ['T1', 'my contract'],
    ]);
  });

  it('come on their track alone, each once', () => {
    const deck = deckOf('words: [hello], track: outbound', 'words: [hello, hello there], track: inbound');
    expect(found(deck, 'hello there, hello')).toEqual([['T1', 'hello']]);
  });

  it('cost time in proportion to the text', () => {
    const deck = deckOf('pattern: "(a+)+b"', 'pattern: "(x{1,20}y?){1,5}z"', 'words: [a a a a a a a a a a a b]');
    const times = [2000, 16_000].map((chars) => {
      const begun = process.cpuUsage();
      deck.find('a x'.repeat(chars / 3), 0, 'inbound');
      return process.cpuUsage(begun).user;
    });
    expect((times[1] ?? 0) / Math.max(times[0] ?? 0, 1)).toBeLessThan(40);
  });
});

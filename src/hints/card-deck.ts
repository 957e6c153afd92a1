/** Finds the cards whose words are in a text. */
import type { Track } from '../protocols/dialect.ts';
import { type Card, type CardsFile, spokenTokens } from './cards.ts';

/** A card, and the words that brought it. */
export interface FoundCard {
  readonly card: Card;
  readonly words: string;
}

type Token = ReturnType<typeof spokenTokens>[number];

interface Phrase {
  readonly card: Card;
  readonly keys: readonly string[];
}

/** More of a match is not shown. */
const WORDS_MAX_CHARS = 200;

/** All cards of a file, ready to be looked for. */
export class CardDeck {
  readonly #phrases = new Map<string, Phrase[]>();
  readonly #patterns: readonly Card[];
  readonly size: number;

  constructor({ cards }: Pick<CardsFile, 'cards'>) {
    this.size = cards.length;
    this.#patterns = cards.filter(({ pattern }) => pattern !== null);
    for (const card of cards) for (const keys of card.phrases) this.#add({ card, keys });
  }

  /**
   * The cards of `track` that `text` brings, each once, in the order of the file's phrases and then of its patterns.
   * Words before the character `newFrom` were looked at before: a match must reach beyond it. Case does not matter,
   * and words match whole.
   */
  find(text: string, newFrom: number, track: Track): FoundCard[] {
    const found = new Map<Card, string>();
    const put = (card: Card, from: number, to: number): void => {
      const isOurs = card.track === 'both' || card.track === track;
      if (isOurs && to > newFrom && !found.has(card)) found.set(card, text.slice(from, to).slice(0, WORDS_MAX_CHARS));
    };
    const tokens = spokenTokens(text);
    tokens.forEach(({ key, from }, at) => {
      for (const { card, keys } of this.#phrases.get(key) ?? []) {
        const last = endOf(keys, tokens, at);
        if (last !== null) put(card, from, last.to);
      }
    });
    for (const card of this.#patterns) {
      if (card.track !== 'both' && card.track !== track) continue;
      for (const { from, to } of card.pattern?.find(text) ?? []) put(card, from, to);
    }
    return [...found].map(([card, words]) => ({ card, words }));
  }

  #add(phrase: Phrase): void {
    const first = phrase.keys[0] ?? '';
    const known = this.#phrases.get(first);
    if (known === undefined) this.#phrases.set(first, [phrase]);
    else known.push(phrase);
  }
}

/** The last token of `keys`, which begin at token `at`; null = they do not. */
function endOf(keys: readonly string[], tokens: readonly Token[], at: number): Token | null {
  if (keys.some((key, index) => tokens[at + index]?.key !== key)) return null;
  return tokens[at + keys.length - 1] ?? null;
}

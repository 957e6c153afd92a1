/** Words with their phonemes, as the voice's lexicons have them: checked ones (gold) and generated ones (silver). */
import { capitalise, isAlphabetic, isLower, isUpper } from './characters.ts';
import type { JsonIndex } from './json-index.ts';
import { applyStress, PRIMARY_STRESS, SECONDARY_STRESS, type Stress, WEAK } from './stress.ts';
import type { Context } from './token.ts';

/** Phonemes, or those of each part of speech. */
type Entry = string | Readonly<Record<string, string | null>>;

const ASCII_LETTERS = /^[A-Za-z]+$/;
/** The part of speech of a word before a pause. */
const BEFORE_PAUSE = 'None';

/** Signs that are read as words. */
export const SIGN_WORDS: ReadonlyMap<string, string> = new Map([
  ['%', 'percent'],
  ['&', 'and'],
  ['+', 'plus'],
  ['@', 'at'],
]);

/** The lexicons of an accent. */
export class Dictionary {
  readonly #gold: JsonIndex;
  readonly #silver: JsonIndex;

  constructor(lexicons: { gold: JsonIndex; silver: JsonIndex }) {
    this.#gold = lexicons.gold;
    this.#silver = lexicons.silver;
  }

  /** Whether the checked lexicon has the word. */
  hasChecked(word: string): boolean {
    return findCased(this.#gold, word) !== undefined;
  }

  /** Whether a lexicon has the word as it is written. */
  has(word: string): boolean {
    return this.hasChecked(word) || findCased(this.#silver, word) !== undefined;
  }

  /** The checked phonemes of a word for a part of speech; null where there are none. */
  checked(word: string, tag = 'DEFAULT'): string | null {
    const entry = findCased(this.#gold, word);
    return entry === undefined || typeof entry === 'string' ? (entry ?? null) : (entry[tag] ?? null);
  }

  /** Whether {@link lookUp} can read it: a word of a lexicon, or letters that are spelt. */
  canRead(word: string): boolean {
    if (SIGN_WORDS.has(word) || this.has(word)) return true;
    if (!ASCII_LETTERS.test(word)) return false;
    if (word.length === 1) return true;
    if (isUpper(word) && this.hasChecked(word.toLowerCase())) return true;
    return isUpper(word.slice(1));
  }

  /** The phonemes of a word that {@link canRead} accepts; null where there are none after all. */
  lookUp(word: string, tag: string | null, stress: Stress | null, context: Context | null): string | null {
    const isShouted = isUpper(word) && !this.hasChecked(word);
    const isName = isShouted && tag === 'NNP';
    const key = isShouted ? word.toLowerCase() : word;
    const entry = findCased(this.#gold, key) ?? (isName ? undefined : findCased(this.#silver, key));
    const phonemes = typeof entry === 'object' ? choose(entry, tag, context) : (entry ?? null);
    if (phonemes === null || (isName && !phonemes.includes(PRIMARY_STRESS))) {
      const spelt = this.spell(key);
      if (spelt !== null) return spelt;
    }
    return phonemes === null ? null : applyStress(phonemes, stress);
  }

  /** Letters by their names, the last one stressed; null where one has no name. */
  spell(word: string): string | null {
    const names = Array.from(word)
      .filter(isAlphabetic)
      .map((letter) => this.checked(letter.toUpperCase()));
    if (names.includes(null)) return null;
    const weak = applyStress(names.join(''), WEAK);
    const last = weak.lastIndexOf(SECONDARY_STRESS);
    return last < 0 ? weak : weak.slice(0, last) + PRIMARY_STRESS + weak.slice(last + 1);
  }
}

/** A word in small letters is also that with a capital, and the other way round, unless that one has an entry. */
function findCased(lexicon: JsonIndex, word: string): Entry | undefined {
  const entry = lexicon.get(word) as Entry | undefined;
  if (entry !== undefined || word.length < 2) return entry;
  if (isLower(word)) {
    const capitalised = capitalise(word);
    return capitalised === word ? undefined : (lexicon.get(capitalised) as Entry | undefined);
  }
  return word === capitalise(word) ? (lexicon.get(word.toLowerCase()) as Entry | undefined) : undefined;
}

function choose(entry: Exclude<Entry, string>, tag: string | null, context: Context | null): string | null {
  const isPause = context !== null && context.nextIsVowel === null && BEFORE_PAUSE in entry;
  const wanted = isPause ? BEFORE_PAUSE : tag !== null && tag in entry ? tag : parentTag(tag);
  const chosen = wanted === null ? undefined : entry[wanted];
  return chosen === undefined ? (entry['DEFAULT'] ?? null) : chosen;
}

/** The part of speech of which a tag is a form. */
export function parentTag(tag: string | null): string | null {
  if (tag === null) return null;
  if (tag.startsWith('VB')) return 'VERB';
  if (tag.startsWith('NN')) return 'NOUN';
  if (/^(?:ADV|RB)/.test(tag)) return 'ADV';
  return /^(?:ADJ|JJ)/.test(tag) ? 'ADJ' : tag;
}

import { fold, type Token } from './fold.ts';
import type { Phrases } from './languages/language-words.ts';

/** What a phrase at some place stands for, and how many tokens it has. */
export interface FoundPhrase<Value> {
  readonly value: Value;
  readonly length: number;
}

interface Entry<Value> {
  readonly words: readonly string[];
  readonly value: Value;
}

/** Words and signs; a hyphen is one only by itself. */
const PHRASE_WORD = /\p{L}+|\p{N}+|[$€£¥₹%+#*]|^ *- *$/gu;

/** Phrases by their first word, the longest first. */
export class PhraseTable<Value> {
  readonly #entries = new Map<string, Entry<Value>[]>();

  /** Of one phrase with two values the earlier counts. */
  constructor(phrases: Phrases<Value>) {
    const seen = new Set<string>();
    for (const [list, value] of phrases) {
      for (const words of list.split(',').map(phraseWords)) {
        const [first] = words;
        const key = words.join(' ');
        if (first === undefined || seen.has(key)) continue;
        seen.add(key);
        const entries = this.#entries.get(first) ?? [];
        this.#entries.set(first, entries);
        entries.push({ words, value });
      }
    }
    for (const entries of this.#entries.values()) entries.sort((a, b) => b.words.length - a.words.length);
  }

  /** All first words of the phrases. */
  get firstWords(): Iterable<string> {
    return this.#entries.keys();
  }

  /** The longest phrase that begins at `at`. */
  find(tokens: readonly Pick<Token, 'text'>[], at: number): FoundPhrase<Value> | null {
    const first = tokens[at];
    const entries = first === undefined ? undefined : this.#entries.get(first.text);
    const found = entries?.find(({ words }) => words.every((word, index) => tokens[at + index]?.text === word));
    return found === undefined ? null : { value: found.value, length: found.words.length };
  }

  /** The value of `word`, if it is a phrase by itself. */
  get(word: string): Value | null {
    const found = this.#entries.get(word)?.at(-1);
    return found?.words.length === 1 ? found.value : null;
  }
}

function phraseWords(phrase: string): string[] {
  return (fold(phrase).match(PHRASE_WORD) ?? []).map((word) => word.trim());
}

/** A table of phrases without values. */
export function phraseSet(phrases: string): PhraseTable<true> {
  return new PhraseTable([[phrases, true]]);
}

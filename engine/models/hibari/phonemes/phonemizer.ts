/** Text to phonemes in English, in the alphabet that the voices of hibari and Kokoro were trained on. */

import type { Accent } from '../../phoneme-symbols.ts';
import { WordFinder } from '../../word-finder.ts';
import { type Clause, cutClauses } from './clauses.ts';
import { LineReader } from './line-reader.ts';
import { openPhonemeData, type PhonemeData } from './phoneme-data.ts';
import { splitAtSpeltLetters } from './spelt-letters.ts';
import { addS } from './suffixes.ts';
import { newToken, type Token } from './token.ts';
import type { Piece } from './tokenizer.ts';

/** What an operator wants pronounced otherwise: the word or phrase, as it is written, to its phonemes. */
export type PhonemeOverrides = ReadonlyMap<string, string>;

/** Turns lines of text into phonemes. Any text will do: what nobody can say is left out. */
export interface Phonemizer {
  /** The phonemes of a line, without spaces at its ends; empty when nothing in it can be said. */
  phonemize(text: string): Promise<string>;
  /**
   * The same phonemes cut behind the punctuation of clauses, and into stretches of at most `maxPhonemes` (400 unless
   * given) in a clause that is longer. A clause ends with the space that follows it.
   */
  phonemizeClauses(text: string, maxPhonemes?: number): Promise<Clause[]>;
}

/** Where a phonemizer finds its data and how it pronounces. */
export interface PhonemizerOptions {
  /** Folder of the installed voice: lexicons, tagger, networks. */
  readonly folder: string;
  readonly accent: Accent;
  readonly overrides?: PhonemeOverrides;
}

/** Of one run of a voice's network. */
const MAX_PHONEMES = 400;
const POSSESSIVE = /^['’]s(?![\p{L}\p{N}])/u;

/**
 * Opens the phonemizer of an accent. Its data is read once for each folder and stays in memory.
 * @throws Refusal `model_missing` when a file of the folder is missing or cannot be read.
 */
export async function openPhonemizer({ folder, accent, overrides }: PhonemizerOptions): Promise<Phonemizer> {
  const data = await openPhonemeData(folder, accent);
  return new EnglishPhonemizer(data, accent, overrides ?? new Map());
}

class EnglishPhonemizer implements Phonemizer {
  readonly #data: PhonemeData;
  readonly #reader: LineReader;
  readonly #overrides: WordFinder<string>;
  readonly #accent: Accent;

  constructor(data: PhonemeData, accent: Accent, overrides: PhonemeOverrides) {
    const { dictionary, unknown } = data;
    this.#data = data;
    this.#accent = accent;
    this.#reader = new LineReader({ dictionary, unknown, accent });
    this.#overrides = new WordFinder(overrides);
  }

  async phonemize(text: string): Promise<string> {
    const clauses = await this.phonemizeClauses(text);
    return clauses.map(({ phonemes }) => phonemes).join('');
  }

  async phonemizeClauses(text: string, maxPhonemes = MAX_PHONEMES): Promise<Clause[]> {
    return cutClauses(await this.#reader.read(this.#cutTokens(text)), maxPhonemes);
  }

  /** The tagger sees the whole line, words of the operator's lexicon among the others. */
  #cutTokens(text: string): Token[] {
    const tokens: Token[] = [];
    for (const { text: stretch, value } of this.#overrides.split(text)) {
      const last = tokens.at(-1);
      const rest = this.#endOverride(last, stretch);
      if (value !== undefined) tokens.push(overriddenToken(stretch, value));
      else tokens.push(...this.#split(rest).map((piece) => newToken(piece.text, '', piece.space)));
    }
    const tags = this.#data.tagger.tag(tokens.map((token) => token.text));
    for (const [at, token] of tokens.entries()) token.tag = tags[at] ?? '';
    return tokens;
  }

  #split(text: string): Piece[] {
    return splitAtSpeltLetters(text, (stretch) => this.#data.tokenizer.split(stretch));
  }

  /** What follows a word of the operator's lexicon may be its -'s. Returns what is behind that. */
  #endOverride(last: Token | undefined, behind: string): string {
    if (last === undefined || last.phonemes === null) return behind;
    const ending = POSSESSIVE.exec(behind)?.[0] ?? '';
    if (ending !== '') last.phonemes = addS(last.phonemes, this.#accent);
    const rest = behind.slice(ending.length);
    last.space = /^\s/.test(rest);
    return rest;
  }
}

function overriddenToken(text: string, phonemes: string): Token {
  const token = newToken(text, '', false);
  token.phonemes = phonemes;
  return token;
}

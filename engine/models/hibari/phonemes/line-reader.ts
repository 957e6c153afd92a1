/**
 * Tokens of a line to phonemes, in the order of misaki (en.py): from the last word to the first, because what follows
 * decides how small words are said.
 */

import type { Accent } from '../../phoneme-symbols.ts';
import {
  firstCharacter,
  isAlphabetic,
  isAsciiDigits,
  isDigits,
  isLower,
  isUpper,
  LETTER,
  plainDigits,
  WORD,
} from './characters.ts';
import type { Dictionary } from './dictionary.ts';
import { isNumber, NumberReader } from './number-reader.ts';
import {
  applyStress,
  CONSONANTS,
  EMPHASISED,
  PRIMARY_STRESS,
  STRESSED,
  type Stress,
  VOWELS,
  WEAKENED,
  weightOf,
} from './stress.ts';
import { type Context, joinPhonemes, mergeTokens, type Token } from './token.ts';
import { WordReader } from './word-reader.ts';
import { groupWords } from './words.ts';

/** A word with its phonemes, and whether white space follows it. */
export interface ReadWord {
  readonly text: string;
  readonly phonemes: string;
  readonly space: boolean;
}

/** Reads words that no lexicon has; empty where it can say nothing. */
export interface UnknownWordReader {
  read(word: string): Promise<string>;
}

const LINE_END: Context = { nextIsVowel: null, nextIsTo: false };
const PAUSES: ReadonlySet<string> = new Set(';:,.!?—…');
/** Marks inside a word that nobody says. */
const SILENT = /^[',\-._‘’/]*$/;

const UNKNOWN_PIECES = new RegExp(
  String.raw`[${LETTER}]+(?:['’][${LETTER}]+)*|\p{Nd}+(?:[,.]\p{Nd}+)*|[^${WORD}\s]+`,
  'gu',
);
/** Signs that stand where a word is expected. */
const SIGN_PHONEMES: ReadonlyMap<string, string> = new Map([
  ['/', 'slˈæʃ'],
  ['=', 'ˈikwᵊlz'],
  ['+', 'plˈʌs'],
  ['&', 'ænd'],
  ['@', 'æt'],
  ['%', 'pəɹsˈɛnt'],
  ['#', 'hˈæʃ'],
  ['*', 'ˈæstəɹˌɪsk'],
  ['~', 'tˈɪldə'],
  ['^', 'kˈɛɹət'],
  ['<', 'lˈɛs ðən'],
  ['>', 'ɡɹˈATəɹ ðən'],
  ['—', '—'],
]);

/** Reads the lines of an accent. */
export class LineReader {
  readonly #words: WordReader;
  readonly #numbers: NumberReader;
  readonly #unknown: UnknownWordReader;

  constructor(options: { dictionary: Dictionary; unknown: UnknownWordReader; accent: Accent }) {
    const { dictionary, unknown, accent } = options;
    this.#words = new WordReader(dictionary, accent);
    this.#numbers = new NumberReader({ dictionary, words: this.#words, accent });
    this.#unknown = unknown;
  }

  /** The words of a line. */
  async read(tokens: readonly Token[]): Promise<ReadWord[]> {
    const words = groupWords(tokens);
    let context = LINE_END;
    for (const word of words.toReversed()) {
      context = word.length === 1 ? await this.#readPart(word, context) : await this.#readParts(word, context);
    }
    return words.map((word) => {
      const { text, space } = mergeTokens(word);
      return { text, space, phonemes: joinPhonemes(word).replaceAll('ɾ', 'T').replaceAll('ʔ', 't') };
    });
  }

  async #readPart([part]: readonly Token[], context: Context): Promise<Context> {
    if (part === undefined) return context;
    part.phonemes ??= this.#lookUp(part, context) ?? (await this.#readUnknown(part.text));
    return contextBefore(part, part.phonemes, context);
  }

  /**
   * A word of several parts: the longest stretch at its end that a lexicon has, then the same with what is before it.
   * Where a part is unknown, the whole word is.
   */
  async #readParts(parts: readonly Token[], after: Context): Promise<Context> {
    let context = after;
    for (let end = parts.length; end > 0; ) {
      const found = this.#findStretch(parts.slice(0, end), context);
      if (found !== null) {
        for (const part of parts.slice(found.start, end)) part.phonemes = '';
        const [first] = parts.slice(found.start);
        if (first !== undefined) first.phonemes = found.phonemes;
        context = contextBefore(found.token, found.phonemes, context);
        end = found.start;
        continue;
      }
      end--;
      const last = parts[end];
      if (last === undefined || !SILENT.test(last.text)) {
        await this.#readWhole(parts);
        return context;
      }
      last.phonemes = '';
    }
    balanceStress(parts);
    return context;
  }

  #findStretch(parts: readonly Token[], context: Context): { start: number; token: Token; phonemes: string } | null {
    for (let start = 0; start < parts.length; start++) {
      const token = mergeTokens(parts.slice(start));
      const phonemes = this.#lookUp(token, context);
      if (phonemes !== null) return { start, token, phonemes };
    }
    return null;
  }

  async #readWhole(parts: readonly Token[]): Promise<void> {
    for (const part of parts) part.phonemes = '';
    const [first] = parts;
    if (first !== undefined) first.phonemes = await this.#readUnknown(mergeTokens(parts).text);
  }

  #lookUp(token: Token, context: Context): string | null {
    const word = plainDigits((token.alias ?? token.text).replace(/[‘’]/g, "'").normalize('NFKC'));
    const stress: Stress | null = isLower(word) ? null : isUpper(word) ? EMPHASISED : STRESSED;
    const phonemes = this.#words.read({ word, tag: token.tag, stress, context });
    if (phonemes !== null) {
      const unit = token.currency === null ? null : this.#numbers.unitOf(token.currency);
      return unit === null ? phonemes : `${phonemes} ${unit}`;
    }
    if (!isNumber(word, token.isHead)) return null;
    return this.#numbers.read({ text: word, currency: token.currency, isHead: token.isHead });
  }

  /** Letters by the network, digits as numbers, signs by their names. */
  async #readUnknown(text: string): Promise<string> {
    const said: string[] = [];
    for (const piece of text.match(UNKNOWN_PIECES) ?? []) {
      const phonemes = await this.#readPiece(piece);
      if (phonemes) said.push(phonemes);
    }
    return said.join(' ');
  }

  async #readPiece(piece: string): Promise<string | null> {
    const first = firstCharacter(piece);
    if (isDigits(first)) {
      const text = plainDigits(piece.normalize('NFKC'));
      return isNumber(text, false) ? this.#numbers.read({ text, currency: null, isHead: false }) : null;
    }
    if (isAlphabetic(first)) return this.#unknown.read(piece);
    return Array.from(piece, (sign) => SIGN_PHONEMES.get(sign) ?? '').join('');
  }
}

/** What a word is for the one before it. */
function contextBefore({ text, tag }: Token, phonemes: string, after: Context): Context {
  const sound = Array.from(phonemes).find(
    (symbol) => VOWELS.has(symbol) || CONSONANTS.has(symbol) || PAUSES.has(symbol),
  );
  return {
    nextIsVowel: sound === undefined ? after.nextIsVowel : PAUSES.has(sound) ? null : VOWELS.has(sound),
    nextIsTo: text === 'to' || text === 'To' || (text === 'TO' && (tag === 'TO' || tag === 'IN')),
  };
}

/** Of the parts of a word, only about half keep their stress; those of different kinds are said as separate words. */
function balanceStress(parts: readonly Token[]): void {
  const text = parts.map((part) => part.text).join('');
  const isMixed = text.includes('/') || new Set(Array.from(text).flatMap(kindOf)).size > 1;
  for (const part of parts.slice(1)) part.isApart = isMixed;
  if (isMixed) return;
  const said = parts
    .filter(({ phonemes }) => phonemes)
    .map((part) => ({
      part,
      isStressed: part.phonemes?.includes(PRIMARY_STRESS) === true,
      weight: weightOf(part.phonemes ?? ''),
    }));
  const [first, second] = said;
  if (said.length === 2 && first !== undefined && second !== undefined && Array.from(first.part.text).length === 1) {
    weaken(second.part);
    return;
  }
  const stressed = said.filter(({ isStressed }) => isStressed).length;
  if (said.length < 2 || stressed <= Math.floor((said.length + 1) / 2)) return;
  const lightest = said.toSorted((a, b) => Number(a.isStressed) - Number(b.isStressed) || a.weight - b.weight);
  for (const { part } of lightest.slice(0, Math.floor(said.length / 2))) weaken(part);
}

function weaken(part: Token): void {
  part.phonemes = applyStress(part.phonemes ?? '', WEAKENED);
}

/** Letter, digit or sign; nothing for marks that nobody says. */
function kindOf(character: string): ('letter' | 'digit' | 'sign')[] {
  if (SILENT.test(character)) return [];
  if (isAlphabetic(character)) return ['letter'];
  return [isAsciiDigits(character) ? 'digit' : 'sign'];
}

/** Words in phonemes: from the lexicons, by their stems, and by what follows where that decides. */

import type { Accent } from '../../phoneme-symbols.ts';
import { isAlphabetic, isLower, isUpper } from './characters.ts';
import { type Dictionary, parentTag, SIGN_WORDS } from './dictionary.ts';
import { PRIMARY_STRESS, SECONDARY_STRESS, STRESSED, type Stress, WEAKENED } from './stress.ts';
import { addEd, addIng, addS } from './suffixes.ts';
import type { Context } from './token.ts';

/** A word with what its reading depends on. */
export interface WordInContext {
  readonly word: string;
  readonly tag: string | null;
  readonly stress: Stress | null;
  /** Null = by itself. */
  readonly context: Context | null;
}

/** Signs within addresses. */
const ADDRESS_WORDS: ReadonlyMap<string, string> = new Map([
  ['.', 'dot'],
  ['/', 'slash'],
]);
const VERSUS = /^vs\.?$/i;
const DOUBLED_BEFORE_ING = /([bcdgklmnprstvxz])\1ing$|cking$/;
const INITIALS_MAX_CHARS = 2;
/** Longer capitalised words are no names that the lexicon lacks. */
const NAME_MAX_CHARS = 7;

/** Reads the words of an accent. */
export class WordReader {
  readonly #dictionary: Dictionary;
  readonly #accent: Accent;

  constructor(dictionary: Dictionary, accent: Accent) {
    this.#dictionary = dictionary;
    this.#accent = accent;
  }

  /** The phonemes of a word; null where neither lexicons nor rules have them. */
  read(written: WordInContext): string | null {
    const special = this.#readSpecial(written);
    if (special !== null) return special;
    const word = this.#isCapitalisedWord(written) ? written.word.toLowerCase() : written.word;
    const dictionary = this.#dictionary;
    const known = [word, word.replace(/s'$/, "'s"), word.replace(/'$/, '')].find(
      (form, at) => (at === 0 || form !== word) && dictionary.canRead(form),
    );
    if (known !== undefined) return this.#lookUp({ ...written, word: known });
    return this.readStem({ ...written, word });
  }

  /** The phonemes of a word in -s, -ed or -ing whose stem a lexicon has. */
  readStem(written: WordInContext): string | null {
    return this.readPlural(written) ?? this.#readPast(written) ?? this.#readParticiple(written);
  }

  /** The phonemes of a word in -s whose stem a lexicon has. */
  readPlural(written: WordInContext): string | null {
    const { word } = written;
    if (word.length < 3 || !word.endsWith('s')) return null;
    const hasE = word.length > 4;
    const stem = this.#firstKnown([
      word.endsWith('ss') ? null : word.slice(0, -1),
      word.endsWith("'s") || (hasE && word.endsWith('es') && !word.endsWith('ies')) ? word.slice(0, -2) : null,
      hasE && word.endsWith('ies') ? `${word.slice(0, -3)}y` : null,
    ]);
    const phonemes = stem === null ? null : this.#lookUp({ ...written, word: stem });
    return phonemes ? addS(phonemes, this.#accent) : null;
  }

  #readPast(written: WordInContext): string | null {
    const { word } = written;
    if (word.length < 4 || !word.endsWith('d')) return null;
    const stem = this.#firstKnown([
      word.endsWith('dd') ? null : word.slice(0, -1),
      word.length > 4 && word.endsWith('ed') && !word.endsWith('eed') ? word.slice(0, -2) : null,
    ]);
    const phonemes = stem === null ? null : this.#lookUp({ ...written, word: stem });
    return phonemes ? addEd(phonemes, this.#accent) : null;
  }

  #readParticiple(written: WordInContext): string | null {
    const { word, stress } = written;
    if (word.length < 5 || !word.endsWith('ing')) return null;
    const hasStem = word.length > 5;
    const stem = this.#firstKnown([
      hasStem ? word.slice(0, -3) : null,
      `${word.slice(0, -3)}e`,
      hasStem && DOUBLED_BEFORE_ING.test(word) ? word.slice(0, -4) : null,
    ]);
    const phonemes = stem === null ? null : this.#lookUp({ ...written, word: stem, stress: stress ?? STRESSED });
    return phonemes ? addIng(phonemes, this.#accent) : null;
  }

  #firstKnown(stems: readonly (string | null)[]): string | null {
    return stems.find((stem) => stem !== null && this.#dictionary.canRead(stem)) ?? null;
  }

  #lookUp({ word, tag, stress, context }: WordInContext): string | null {
    return this.#dictionary.lookUp(word, tag, stress, context);
  }

  /** Whether a word with capitals is the same word without them: at the head of a sentence, or shouted. */
  #isCapitalisedWord(written: WordInContext): boolean {
    const { word, tag } = written;
    if (word.length < 2 || isLower(word) || !isAlphabetic(word.replaceAll("'", ''))) return false;
    if (tag === 'NNP' && word.length <= NAME_MAX_CHARS) return false;
    if (this.#dictionary.has(word) || !(isUpper(word) || isLower(word.slice(1)))) return false;
    const small = word.toLowerCase();
    return this.#dictionary.has(small) || Boolean(this.readStem({ ...written, word: small }));
  }

  #readSpecial(written: WordInContext): string | null {
    const { word, tag } = written;
    const dictionary = this.#dictionary;
    const addressWord = tag === 'ADD' ? ADDRESS_WORDS.get(word) : undefined;
    if (addressWord !== undefined) return this.#lookUp({ ...written, word: addressWord, tag: null, stress: WEAKENED });
    const signWord = SIGN_WORDS.get(word);
    if (signWord !== undefined) return this.#lookUp({ ...written, word: signWord, tag: null, stress: null });
    if (isDottedInitials(word)) return dictionary.spell(word);
    if (tag === 'IN' && VERSUS.test(word)) return this.#lookUp({ ...written, word: 'versus', tag: null, stress: null });
    return this.#readFunctionWord(written);
  }

  /** Small words that are said one way or another by what follows them. */
  #readFunctionWord({ word, tag, stress, context }: WordInContext): string | null {
    const dictionary = this.#dictionary;
    const nextIsVowel = context?.nextIsVowel ?? null;
    const isNoun = tag?.startsWith('NN') === true;
    switch (word.toLowerCase()) {
      case 'a':
        return tag === 'DT' ? 'ɐ' : 'ˈA';
      case 'am':
        if (word === 'aM') return null;
        if (isNoun) return dictionary.spell(word);
        return nextIsVowel === null || word !== 'am' || (stress ?? 0) > 0 ? dictionary.checked('am') : 'ɐm';
      case 'an':
        if (word === 'aN') return null;
        return word === 'AN' && isNoun ? dictionary.spell(word) : 'ɐn';
      case 'i':
        return word === 'I' && tag === 'PRP' ? `${SECONDARY_STRESS}I` : null;
      case 'by':
        return word !== 'bY' && parentTag(tag) === 'ADV' ? 'bˈI' : null;
      case 'to':
        if (word === 'tO' || (word === 'TO' && tag !== 'TO' && tag !== 'IN')) return null;
        return nextIsVowel === null ? dictionary.checked('to') : nextIsVowel ? 'tʊ' : 'tə';
      case 'in':
        if (word === 'iN' || (word === 'IN' && tag === 'NNP')) return null;
        return nextIsVowel === null || tag !== 'IN' ? `${PRIMARY_STRESS}ɪn` : 'ɪn';
      case 'the':
        if (!/^[Tt]he$/.test(word) && !(word === 'THE' && tag === 'DT')) return null;
        return nextIsVowel === true ? 'ði' : 'ðə';
      case 'used':
        if (!/^(?:[Uu]sed|USED)$/.test(word)) return null;
        return dictionary.checked('used', (tag === 'VBD' || tag === 'JJ') && context?.nextIsTo ? 'VBD' : 'DEFAULT');
      default:
        return null;
    }
  }
}

/** `U.S.`, `e.g.`, `a.m.`: letters with stops between them. */
function isDottedInitials(word: string): boolean {
  if (!/[^.]\.+[^.]/.test(word)) return false;
  const parts = word.split('.');
  return isAlphabetic(parts.join('')) && parts.every((part) => Array.from(part).length <= INITIALS_MAX_CHARS);
}

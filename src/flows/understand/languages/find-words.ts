import { matchLanguage } from '../../../foundation/languages.ts';
import { ENGLISH_WORDS } from './english-words.ts';
import { FRENCH_WORDS } from './french-words.ts';
import { GERMAN_WORDS } from './german-words.ts';
import type { LanguageWords } from './language-words.ts';
import { SPANISH_WORDS } from './spanish-words.ts';

const WORDS: Readonly<Record<string, LanguageWords>> = {
  en: ENGLISH_WORDS,
  de: GERMAN_WORDS,
  es: SPANISH_WORDS,
  fr: FRENCH_WORDS,
};

/** Languages whose numbers, dates and answers are understood, by ISO 639-1. */
export const UNDERSTOOD_LANGUAGES: readonly string[] = Object.keys(WORDS);

/** The words of `language`, a code or a name. In others only figures and the phrases of choices are known: English. */
export function findWords(language: string): LanguageWords {
  return WORDS[matchLanguage(language, UNDERSTOOD_LANGUAGES) ?? 'en'] ?? ENGLISH_WORDS;
}

/** `US` of `en-US`; empty = none. */
export function regionOf(language: string): string {
  return /[-_]([A-Za-z]{2})(?:[-_]|$)/.exec(language)?.[1]?.toUpperCase() ?? '';
}

import { matchLanguage } from '../../../foundation/languages.ts';
import { ENGLISH } from './english.ts';
import { FRENCH } from './french.ts';
import { GERMAN } from './german.ts';
import { SPANISH } from './spanish.ts';
import type { SpokenLanguage } from './spoken-language.ts';

const LANGUAGES: Readonly<Record<string, SpokenLanguage>> = {
  en: ENGLISH,
  de: GERMAN,
  es: SPANISH,
  fr: FRENCH,
};

/** How values are said in `language`, a code or a name; null = in this one they are not. */
export function findSpokenLanguage(language: string): SpokenLanguage | null {
  const code = matchLanguage(language, Object.keys(LANGUAGES));
  return code === null ? null : (LANGUAGES[code] ?? null);
}

/** What languages are called, and which of them the recogniser understands. */
import { TrunklineError } from '../../foundation/errors.ts';
import { describe } from '../server/echo.ts';

/** Languages by their ISO 639-1 code, with the English names that OpenAI's API uses in lower case. */
export const LANGUAGE_NAMES: Readonly<Record<string, string>> = Object.freeze({
  ar: 'arabic',
  cs: 'czech',
  da: 'danish',
  de: 'german',
  el: 'greek',
  en: 'english',
  es: 'spanish',
  fa: 'persian',
  fi: 'finnish',
  fr: 'french',
  hi: 'hindi',
  hu: 'hungarian',
  id: 'indonesian',
  it: 'italian',
  ja: 'japanese',
  ko: 'korean',
  mk: 'macedonian',
  ms: 'malay',
  nl: 'dutch',
  pl: 'polish',
  pt: 'portuguese',
  ro: 'romanian',
  ru: 'russian',
  sv: 'swedish',
  th: 'thai',
  tr: 'turkish',
  uk: 'ukrainian',
  vi: 'vietnamese',
  zh: 'chinese',
});

/** `en`, `en-US`, `en_gb`, `English`. */
const ENGLISH = /^(?:english|en(?:[-_][a-z0-9]{1,8}){0,3})$/;
/** Leaves the choice to the recogniser. */
const ANY = ['', 'auto'];

/** What {@link requireLanguage} takes, in words. */
const SUPPORTED = '"en" (or "en-US" and the like), "English", "auto" or nothing: the recogniser understands English';

/** The English name of a language given by code or name, in lower case; what is not known is given back as it came. */
export function languageName(language: string): string {
  const wanted = language.trim().toLowerCase();
  return ENGLISH.test(wanted) ? 'english' : (LANGUAGE_NAMES[wanted] ?? wanted);
}

/** A language's name as the Qwen3 servers write it: `English`. */
export function titleCase(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/**
 * The one rule for the language that somebody says is spoken: the recogniser in the box knows English alone, and would
 * write nonsense for anything else.
 * @param param the request's field that holds it
 * @throws TrunklineError `unsupported_language` saying what is supported
 */
export function requireLanguage(language: string, param = 'language'): void {
  const wanted = language.trim().toLowerCase();
  if (ANY.includes(wanted) || ENGLISH.test(wanted)) return;
  throw new TrunklineError('unsupported_language', `${param}: got ${describe(language)}, expected ${SUPPORTED}`, param);
}

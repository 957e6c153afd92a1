/** What languages are called. */

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

/** Regions, scripts and variants behind a language's code: `-US`, `_gb`, `-Latn-US`. */
const SUBTAGS = /^(?:[-_][a-z0-9]{1,8}){0,3}$/;

/**
 * Whether `wanted`, a code or an English name as people write it, means the language with `code`, whatever its region.
 */
export function meansLanguage(wanted: string, code: string): boolean {
  const written = wanted.trim().toLowerCase();
  const own = primaryOf(code);
  return written === LANGUAGE_NAMES[own] || (written.startsWith(own) && SUBTAGS.test(written.slice(own.length)));
}

/**
 * The English name of a language given by code or name, in lower case; what is not known is given back as it came. Of
 * the languages that the recogniser has, `understood`, the region is left out: `en-GB` is English.
 */
export function languageName(language: string, understood: readonly string[] = []): string {
  const wanted = language.trim().toLowerCase();
  const code = understood.find((each) => meansLanguage(wanted, each));
  return LANGUAGE_NAMES[code === undefined ? wanted : primaryOf(code)] ?? wanted;
}

/** A language's name as it begins a sentence: `English`. The Qwen3 servers write it so. */
export function titleCase(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function primaryOf(code: string): string {
  return code.toLowerCase().split(/[-_]/, 1)[0] ?? '';
}

/** What languages are called. */

/** Languages by their ISO 639-1 code, with the English names that OpenAI's API uses in lower case. */
export const LANGUAGE_NAMES: Readonly<Record<string, string>> = Object.freeze({
  ar: 'arabic',
  bg: 'bulgarian',
  cs: 'czech',
  da: 'danish',
  de: 'german',
  el: 'greek',
  en: 'english',
  es: 'spanish',
  et: 'estonian',
  fa: 'persian',
  fi: 'finnish',
  fil: 'filipino',
  fr: 'french',
  hi: 'hindi',
  hr: 'croatian',
  hu: 'hungarian',
  id: 'indonesian',
  it: 'italian',
  ja: 'japanese',
  ko: 'korean',
  lt: 'lithuanian',
  lv: 'latvian',
  mk: 'macedonian',
  ms: 'malay',
  mt: 'maltese',
  nl: 'dutch',
  pl: 'polish',
  pt: 'portuguese',
  ro: 'romanian',
  ru: 'russian',
  sk: 'slovak',
  sl: 'slovenian',
  sv: 'swedish',
  th: 'thai',
  tl: 'tagalog',
  tr: 'turkish',
  uk: 'ukrainian',
  vi: 'vietnamese',
  yue: 'cantonese',
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
  return written === nameOf(own) || (written.startsWith(own) && SUBTAGS.test(written.slice(own.length)));
}

/**
 * The one of `codes` that `wanted`, a code or an English name as people write it, means: the one of its region if there
 * is one, else the first of any region; null = none.
 */
export function matchLanguage(wanted: string, codes: readonly string[]): string | null {
  const written = wanted.trim().toLowerCase().replaceAll('_', '-');
  return (
    codes.find((code) => code.toLowerCase() === written) ?? codes.find((code) => meansLanguage(wanted, code)) ?? null
  );
}

/**
 * The English name of a language given by code or name, in lower case; what is not known is given back as it came. Of
 * the languages that the recogniser has, `understood`, the region is left out: `en-GB` is English.
 */
export function languageName(language: string, understood: readonly string[] = []): string {
  const wanted = language.trim().toLowerCase();
  const code = understood.find((each) => meansLanguage(wanted, each));
  return nameOf(code === undefined ? wanted : primaryOf(code)) ?? wanted;
}

/** A language's name as it begins a sentence: `English`. The Qwen3 servers write it so. */
export function titleCase(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function primaryOf(code: string): string {
  return code.toLowerCase().split(/[-_]/, 1)[0] ?? '';
}

/** Objects know names such as `constructor` without being told. */
function nameOf(code: string): string | undefined {
  return Object.hasOwn(LANGUAGE_NAMES, code) ? LANGUAGE_NAMES[code] : undefined;
}

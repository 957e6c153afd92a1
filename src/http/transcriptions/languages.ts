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

/** The English name of a language given by code or name, in lower case; what is not known is given back as it came. */
export function languageName(language: string): string {
  const wanted = language.trim().toLowerCase();
  return LANGUAGE_NAMES[wanted] ?? wanted;
}

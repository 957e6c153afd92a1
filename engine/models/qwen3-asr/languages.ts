/**
 * The languages of Qwen3-ASR. The model was taught their English names; everybody else uses BCP-47.
 * Names: `SUPPORTED_LANGUAGES` of qwen_asr/inference/utils.py; codes: `LANGUAGE_CODE_TO_NAME` of transformers 5.18
 * (processing_qwen3_asr.py).
 */

const NAME_BY_CODE: Readonly<Record<string, string>> = {
  en: 'English',
  zh: 'Chinese',
  yue: 'Cantonese',
  ar: 'Arabic',
  cs: 'Czech',
  da: 'Danish',
  de: 'German',
  el: 'Greek',
  es: 'Spanish',
  fa: 'Persian',
  fi: 'Finnish',
  fil: 'Filipino',
  fr: 'French',
  hi: 'Hindi',
  hu: 'Hungarian',
  id: 'Indonesian',
  it: 'Italian',
  ja: 'Japanese',
  ko: 'Korean',
  mk: 'Macedonian',
  ms: 'Malay',
  nl: 'Dutch',
  pl: 'Polish',
  pt: 'Portuguese',
  ro: 'Romanian',
  ru: 'Russian',
  sv: 'Swedish',
  th: 'Thai',
  tr: 'Turkish',
  vi: 'Vietnamese',
};

const CODE_BY_NAME: ReadonlyMap<string, string> = new Map(
  Object.entries(NAME_BY_CODE).map(([code, name]) => [name.toLowerCase(), code]),
);

/** BCP-47 of all 30, the one that is assumed first. */
export const QWEN_LANGUAGES: readonly string[] = Object.keys(NAME_BY_CODE);

/** What the model calls a language of BCP-47, be it with a region or not; null = it does not know it. */
export function nameOfLanguage(code: string): string | null {
  return NAME_BY_CODE[code.split('-')[0]?.toLowerCase() ?? ''] ?? null;
}

/** BCP-47 of what the model calls a language, in whatever case; null = nobody does. */
export function codeOfLanguage(name: string): string | null {
  return CODE_BY_NAME.get(name.trim().toLowerCase()) ?? null;
}

/**
 * The words that Qwen3's forced aligner is asked about, cut as its authors do:
 * https://github.com/QwenLM/Qwen3-ASR (inference/qwen3_forced_aligner.py).
 */

/** A word of a text. */
export interface AlignedWord {
  /** Its letters, digits and marks as they are written. */
  readonly text: string;
  /** What the aligner is given of it: letters, digits and apostrophes. */
  readonly read: string;
}

/**
 * BCP-47 of what the aligner was trained for, by its card. Japanese and Korean are left out: it was trained on words
 * that two Python packages cut, and Node has neither.
 */
const LANGUAGES: ReadonlySet<string> = new Set(['zh', 'en', 'yue', 'fr', 'de', 'it', 'pt', 'ru', 'es']);

/** CJK ideographs: each is a word. Kana and Hangul are none. */
const IDEOGRAPH =
  '\\u{4E00}-\\u{9FFF}\\u{3400}-\\u{4DBF}\\u{20000}-\\u{2A6DF}\\u{2A700}-\\u{2CEAF}\\u{F900}-\\u{FAFF}\\u{2F800}-\\u{2FA1F}';
const WORD = new RegExp(`[${IDEOGRAPH}]|[^\\s${IDEOGRAPH}]+`, 'gu');
const NOT_READ = new RegExp(`[^\\p{L}\\p{N}'${IDEOGRAPH}]`, 'gu');
const NOT_WRITTEN = new RegExp(`[^\\p{L}\\p{N}\\p{M}'${IDEOGRAPH}]`, 'gu');

/** Whether words of this language can be aligned. @param language BCP-47 */
export function canAlign(language: string): boolean {
  return LANGUAGES.has(language.split('-')[0] ?? '');
}

/** The words of a text in order; punctuation belongs to none. */
export function wordsToAlign(text: string): AlignedWord[] {
  return Array.from(text.matchAll(WORD), ([word]) => ({
    text: word.replace(NOT_WRITTEN, ''),
    read: word.replace(NOT_READ, ''),
  })).filter(({ read }) => read !== '');
}

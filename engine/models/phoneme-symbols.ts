/**
 * The symbols of English phonemes that an operator may write: those of the voices, which write each diphthong and
 * affricate as one letter, and the usual ones of the International Phonetic Alphabet.
 */

/** How English is pronounced: General American or British. */
export type Accent = 'us' | 'gb';

/** The voices' own: https://github.com/hexgrad/misaki/blob/main/EN_PHONES.md */
const SYMBOLS: ReadonlySet<string> = new Set('AIOQTWYabdfhijklmnpstuvwzæðŋɑɐɒɔəɛɜɡɪɹɾʃʊʌʒʔʤʧθᵊᵻˈˌː ');

/** What is written otherwise in dictionaries, the longer first. */
const FROM_IPA: readonly (readonly [RegExp, string])[] = [
  [/t\u0361?ʃ/g, 'ʧ'],
  [/d\u0361?ʒ/g, 'ʤ'],
  [/e\u0361?ɪ/g, 'A'],
  [/a\u0361?ɪ/g, 'I'],
  [/a\u0361?ʊ/g, 'W'],
  [/ɔ\u0361?ɪ/g, 'Y'],
  [/o\u0361?ʊ/g, 'O'],
  [/ə\u0361?ʊ/g, 'Q'],
  [/([lmn])\u0329/g, 'ᵊ$1'],
  [/ɚ/g, 'əɹ'],
  [/ɝ/g, 'ɜɹ'],
  [/r/g, 'ɹ'],
  [/g/g, 'ɡ'],
  [/e/g, 'ɛ'],
  [/ɨ/g, 'ᵻ'],
  [/ɫ/g, 'l'],
  [/\./g, ''],
];

/** Symbols that voices of one accent were not trained on, as they say them. */
const IN_ACCENT: Readonly<Record<Accent, readonly (readonly [RegExp, string])[]>> = {
  us: [
    [/ː/g, ''],
    [/Q/g, 'O'],
    [/a/g, 'æ'],
    [/ɒ/g, 'ɑ'],
  ],
  gb: [
    [/O/g, 'Q'],
    [/æ/g, 'a'],
    [/[Tɾ]/g, 't'],
    [/ᵻ/g, 'ɪ'],
  ],
};

/** What was written, in the voices' symbols as far as there are any. */
export function toPhonemes(written: string): string {
  return FROM_IPA.reduce((said, [pattern, symbol]) => said.replace(pattern, symbol), written.normalize('NFD'));
}

/** What is wrong with phonemes: what came and what was expected; null = nothing. */
export function findPhonemeProblem(phonemes: string): string | null {
  const unknown = Array.from(phonemes).find((symbol) => !SYMBOLS.has(symbol));
  if (unknown !== undefined) {
    const code = `U+${(unknown.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
    return `got the phoneme ${JSON.stringify(unknown)} (${code}), expected those of ${[...SYMBOLS].join('').trim()}`;
  }
  return /[^ˈˌː ]/.test(phonemes) ? null : 'got no phonemes, expected some between the slashes';
}

/** Phonemes for the voices of an accent. */
export function inAccent(phonemes: string, accent: Accent): string {
  return IN_ACCENT[accent].reduce((said, [pattern, symbol]) => said.replace(pattern, symbol), phonemes);
}

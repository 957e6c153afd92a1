/** Vowels, consonants and stress in the alphabet of misaki: https://github.com/hexgrad/misaki (en.py) */

/** The mark before the vowel that is stressed most. */
export const PRIMARY_STRESS = 'ˈ';
/** The mark before a vowel that is stressed less. */
export const SECONDARY_STRESS = 'ˌ';
export const VOWELS: ReadonlySet<string> = new Set('AIOQWYaiuæɑɒɔəɛɜɪʊʌᵻ');
export const CONSONANTS: ReadonlySet<string> = new Set('bdfhjklmnpstvwzðŋɡɹɾʃʒʤʧθ');
const DIPHTHONGS: ReadonlySet<string> = new Set('AIOQWYʤʧ');

/** How much a word is stressed within its line. */
export const UNSTRESSED = -2;
export const WEAKENED = -0.5;
export const WEAK = 0;
export const STRESSED = 0.5;
export const EMPHASISED = 2;
export type Stress = typeof UNSTRESSED | typeof WEAKENED | typeof WEAK | typeof STRESSED | typeof EMPHASISED;

const MARKS = /[ˈˌ]/g;

/** How long it is to say: diphthongs count twice. */
export function weightOf(phonemes: string): number {
  return Array.from(phonemes).reduce((weight, symbol) => weight + (DIPHTHONGS.has(symbol) ? 2 : 1), 0);
}

/** A word's phonemes as stressed as its place in the line wants; null = as it is in the lexicon. */
export function applyStress(phonemes: string, stress: Stress | null): string {
  if (stress === null) return phonemes;
  if (stress === UNSTRESSED) return phonemes.replace(MARKS, '');
  const hasPrimary = phonemes.includes(PRIMARY_STRESS);
  const hasSecondary = phonemes.includes(SECONDARY_STRESS);
  if (stress <= WEAK && hasPrimary) {
    return phonemes.replaceAll(SECONDARY_STRESS, '').replaceAll(PRIMARY_STRESS, SECONDARY_STRESS);
  }
  if (stress === WEAKENED) return phonemes;
  if (!hasPrimary && !hasSecondary) {
    return markVowel(phonemes, stress === EMPHASISED ? PRIMARY_STRESS : SECONDARY_STRESS);
  }
  const isRaised = stress === EMPHASISED && !hasPrimary;
  return isRaised ? phonemes.replaceAll(SECONDARY_STRESS, PRIMARY_STRESS) : phonemes;
}

/** Puts `mark` before the first vowel, where there is one. */
function markVowel(phonemes: string, mark: string): string {
  const symbols = Array.from(phonemes);
  const at = symbols.findIndex((symbol) => VOWELS.has(symbol));
  return at < 0 ? phonemes : [...symbols.slice(0, at), mark, ...symbols.slice(at)].join('');
}

/** How many tokens a recogniser of words in pieces may write for a stretch of speech. */
import { ENGINE_RATE_HZ } from '../contract.ts';

/** People do not speak faster, so a longer hypothesis is a hallucination. Other scripts take more tokens. */
const TOKENS_PER_SECOND = 6.5;
const TOKENS_PER_SECOND_OTHER = 13;
const TOKENS_SPARE = 2;
const LATIN_LANGUAGES: ReadonlySet<string> = new Set(['en', 'de', 'es', 'fr', 'it', 'nl', 'pl', 'pt', 'tl']);

/** Tokens of `samples` at most, in any of `languages` (BCP-47). */
export function tokensAtMost(samples: number, languages: readonly string[]): number {
  return Math.ceil((samples / ENGINE_RATE_HZ) * tokensPerSecond(languages)) + TOKENS_SPARE;
}

/** The longest speech that needs no more than `tokens`, in samples; at least one second. */
export function samplesFor(tokens: number, languages: readonly string[]): number {
  const seconds = Math.floor((tokens - TOKENS_SPARE) / tokensPerSecond(languages));
  return Math.max(seconds, 1) * ENGINE_RATE_HZ;
}

function tokensPerSecond(languages: readonly string[]): number {
  const isLatin = languages.every((language) => LATIN_LANGUAGES.has(language.split('-')[0] ?? ''));
  return isLatin ? TOKENS_PER_SECOND : TOKENS_PER_SECOND_OTHER;
}

/** Names and phrases that are likely to be said, as requests and settings write them. */
import { HOT_WORD_MAX_CHARS, HOT_WORDS_MAX } from '../../engine/contract.ts';
import { TrunklineError } from './errors.ts';

/** What parts hot words that come in one text. */
const BETWEEN = /[,;\n]/;
/** A name seldom has more words; a sentence does. */
const PHRASE_MAX_WORDS = 4;

/** Hot words as they are used: without space around them, each once, empty ones left out. */
export function tidyHotWords(words: readonly string[]): string[] {
  const tidy = words.map((word) => word.replace(/[\s\p{Cc}]+/gu, ' ').trim());
  return [...new Set(tidy.filter((word) => word !== ''))];
}

/** Those of a text in which commas, semicolons or line breaks stand between them. */
export function splitHotWords(text: string): string[] {
  return tidyHotWords(text.split(BETWEEN));
}

/**
 * As {@link splitHotWords}, for a request.
 * @throws TrunklineError `invalid_request` for more or longer ones than a recogniser takes
 */
export function requireHotWords(words: readonly string[], param: string): string[] {
  const tidy = tidyHotWords(words);
  const problem = findHotWordProblem(tidy);
  if (problem !== null) throw new TrunklineError('invalid_request', `${param}: ${problem}`, param);
  return tidy;
}

/** What is wrong with tidy hot words; null = nothing. It repeats none of them. */
export function findHotWordProblem(words: readonly string[]): string | null {
  if (words.length > HOT_WORDS_MAX) return `got ${words.length} hot words, expected at most ${HOT_WORDS_MAX}`;
  const long = words.find((word) => word.length > HOT_WORD_MAX_CHARS);
  if (long === undefined) return null;
  return `got a hot word of ${long.length} characters, expected at most ${HOT_WORD_MAX_CHARS}`;
}

/** As many of tidy hot words as a recogniser takes, the first ones; those that are too long are left out. */
export function boundHotWords(words: readonly string[]): string[] {
  return words.filter((word) => word.length <= HOT_WORD_MAX_CHARS).slice(0, HOT_WORDS_MAX);
}

/**
 * The hot words of OpenAI's `prompt`, where it is a list of names ("Müller, Trunkline, ISDN"): two or more parts of at
 * most four words each. Running text is none.
 */
export function hotWordsOfPrompt(prompt: string): string[] {
  const parts = splitHotWords(prompt.replace(/^[\p{L}\s]{1,30}:/u, '').replace(/\.\s*$/, ''));
  const isList = parts.length > 1 && parts.every((part) => part.split(' ').length <= PHRASE_MAX_WORDS);
  return isList ? boundHotWords(parts) : [];
}

/**
 * What people type to search, read once for every database: words that must all occur in one utterance, `"a phrase"`,
 * `word*` for beginnings, `a OR b`, and `-word` for what must not occur. OR joins the terms beside it alone, as web
 * search has it.
 */
import { TrunklineError } from '../../foundation/errors.ts';
import { isUnspacedWord, wordsOf } from './search-words.ts';

/** Words that stand side by side. */
export interface SearchPhrase {
  /** As {@link wordsOf} cuts them; at least one. */
  readonly words: readonly string[];
  /** The last word may go on. */
  readonly isPrefix: boolean;
}

/** What an utterance must be like to be found. */
export interface SearchQuery {
  /** Of each group at least one phrase occurs; at least one group. */
  readonly required: readonly (readonly SearchPhrase[])[];
  /** None of them occurs. */
  readonly excluded: readonly SearchPhrase[];
}

/** Longest query. */
export const QUERY_MAX_CHARS = 500;
/** Most words of a query: each costs time in the database. */
const WORDS_MAX = 32;
/** The index has the beginnings of three letters; shorter ones would gather a large part of it. */
const PREFIX_MIN_CHARS = 3;

/** A term as it was typed: an optional minus, then a quoted phrase (whose end may be missing) or a bare word. */
const TERM = /(?<minus>-?)(?:"(?<phrase>[^"]*)(?:"(?<phraseStar>\*?)|$)|(?<bare>[^\s"]+))/gu;

interface Term extends SearchPhrase {
  readonly isExcluded: boolean;
  /** The word OR, which joins its neighbours. */
  readonly isOr: boolean;
}

/**
 * Reads what was typed.
 * @throws TrunklineError `invalid_request` when nothing can be searched for with it, or when it is too long
 */
export function parseSearch(typed: string): SearchQuery {
  if (typed.length > QUERY_MAX_CHARS)
    throw refusal(`got ${typed.length} characters, expected at most ${QUERY_MAX_CHARS}`);
  const terms = Array.from(typed.matchAll(TERM), ({ groups }) => readTerm(groups ?? {})).filter(
    ({ words, isOr }) => isOr || words.length > 0,
  );
  const wordCount = terms.reduce((sum, { words }) => sum + words.length, 0);
  if (wordCount > WORDS_MAX) throw refusal(`got ${wordCount} words, expected at most ${WORDS_MAX}`);
  for (const term of terms) refuseShortPrefix(term);
  const excluded = terms.filter(({ isExcluded }) => isExcluded).map(toPhrase);
  const required = groupAlternatives(terms.filter(({ isExcluded }) => !isExcluded));
  if (required.length === 0) throw refusal('expected at least one word to look for, with letters or digits');
  return { required, excluded };
}

/** The query as the people who typed it meant it, such as `refund OR cancel -"no thanks"`. */
export function formatSearch({ required, excluded }: SearchQuery): string {
  const groups = required.map((group) => group.map(formatPhrase).join(' OR '));
  return [...groups, ...excluded.map((phrase) => `-${formatPhrase(phrase)}`)].join(' ');
}

function formatPhrase({ words, isPrefix }: SearchPhrase): string {
  return `"${joined(words)}"${isPrefix ? '*' : ''}`;
}

function joined(words: readonly string[]): string {
  return words.reduce((text, word) => text + (text === '' || isUnspacedWord(word) ? '' : ' ') + word, '');
}

function readTerm({ minus, phrase, phraseStar, bare }: Readonly<Record<string, string | undefined>>): Term {
  const isExcluded = minus === '-';
  const typed = phrase ?? bare ?? '';
  const words = wordsOf(typed).map(({ word }) => word);
  const hasStar = phraseStar === '*' || (bare?.endsWith('*') === true && words.length > 0);
  // There the letters that follow are words of their own.
  const isPrefix = hasStar && !isUnspacedWord(words.at(-1) ?? '');
  return { words, isPrefix, isExcluded, isOr: bare === 'OR' && !isExcluded };
}

/** An OR with nothing on one of its sides joins nothing. */
function groupAlternatives(terms: readonly Term[]): SearchPhrase[][] {
  const groups: SearchPhrase[][] = [];
  let joins = false;
  for (const term of terms) {
    if (term.isOr) {
      joins = groups.length > 0;
      continue;
    }
    const last = groups.at(-1);
    if (joins && last !== undefined) last.push(toPhrase(term));
    else groups.push([toPhrase(term)]);
    joins = false;
  }
  return groups;
}

function toPhrase({ words, isPrefix }: Term): SearchPhrase {
  return { words, isPrefix };
}

function refuseShortPrefix({ words, isPrefix }: Term): void {
  const last = words.at(-1) ?? '';
  if (isPrefix && last.length < PREFIX_MIN_CHARS)
    throw refusal(`got a beginning of ${last.length} characters, expected at least ${PREFIX_MIN_CHARS} before the *`);
}

function refusal(what: string): TrunklineError {
  return new TrunklineError('invalid_request', `query.q: ${what}`, 'q');
}

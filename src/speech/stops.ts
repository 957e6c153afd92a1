/** Decides whether a stop ends a sentence. */
import {
  AFTER_TIME,
  INNER_ABBREVIATIONS,
  LEADING_ABBREVIATIONS,
  NUMBER_ABBREVIATIONS,
  SENTENCE_STARTERS,
} from './abbreviations.ts';
import type { Window } from './window.ts';

/** Stops of scripts with upper and lower case and a space after a sentence. */
const ORDINARY_STOPS = '.!?…';
/** Stops without another meaning: of Chinese and Japanese, Hindi, Urdu and Arabic, Armenian, Ethiopic. */
const PLAIN_STOPS = '。！？｡।॥۔؟։።';
/** Marks that close after a stop: brackets, quotes, and the marks of bold and code. */
const CLOSERS = `)]}"'”’»›」』）】〉》*_\``;

/** Longest word that is looked up in the lists. */
const WORD_MAX_CHARS = 16;
const TOKEN_MAX_CHARS = 40;

/** `U.S`, `a.m`, `J.R.R`: single letters with stops between them. */
const INITIALS = /^\p{L}(\.\p{L})*$/u;
const TIME_OF_DAY = /^[ap]\.m$/;

/** Whether a character can end a sentence. */
export function isStop(character: string): boolean {
  return character !== '' && (ORDINARY_STOPS.includes(character) || PLAIN_STOPS.includes(character));
}

/** Whether a stop ends a sentence only when white space follows. */
export function isOrdinaryStop(character: string): boolean {
  return ORDINARY_STOPS.includes(character);
}

/** Whether a character belongs to the stop before it. */
export function isCloser(character: string): boolean {
  return CLOSERS.includes(character);
}

/** Positions at a stop before white space: the last stop of its run, the end of its closers, and of the white space. */
export interface StopPlace {
  readonly stop: number;
  readonly end: number;
  readonly next: number;
}

/** Whether the sentence ends at an ordinary stop; null = more text is needed to know. */
export function endsSentence(window: Window, place: StopPlace): boolean | null {
  const { stop, end, next } = place;
  const goesOn = /\p{Ll}/u.test(window.at(next)) && !window.text.slice(end, next).includes('\n');
  if ('!?'.includes(window.at(stop))) return !(goesOn && end > stop + 1);
  const isEllipsis = window.at(stop) === '…' || window.text.charAt(stop - 1) === '.';
  if (isEllipsis) return !goesOn;
  const token = tokenBefore(window.text, stop);
  if (isListMarker(window.text, stop, token)) return false;
  return isAbbreviation(token) ? endsAfterAbbreviation(window, next, token) : !goesOn;
}

/** The word before a full stop, without opening marks. */
function tokenBefore(text: string, stop: number): string {
  const token = /(?<!\S)\S*$/.exec(text.slice(Math.max(0, stop - TOKEN_MAX_CHARS), stop))?.[0] ?? '';
  return token.replace(/^[("'“‘«[*_]+/, '');
}

/** Whether it is `1.` or `a.` at the beginning of a line. */
function isListMarker(text: string, stop: number, token: string): boolean {
  if (!/^(\d{1,3}|[a-z])$/.test(token)) return false;
  let at = stop - token.length - 1;
  while (at >= 0 && ' \t*_-'.includes(text.charAt(at))) at--;
  return at < 0 || text.charAt(at) === '\n';
}

function isAbbreviation(token: string): boolean {
  const word = token.toLowerCase();
  if (token === 'I') return false;
  return (
    LEADING_ABBREVIATIONS.has(word) ||
    INNER_ABBREVIATIONS.has(word) ||
    NUMBER_ABBREVIATIONS.has(word) ||
    INITIALS.test(token)
  );
}

function endsAfterAbbreviation(window: Window, next: number, token: string): boolean | null {
  const word = token.toLowerCase();
  if (LEADING_ABBREVIATIONS.has(word)) return false;
  const character = window.at(next);
  if (/\p{Ll}/u.test(character)) return false;
  if (NUMBER_ABBREVIATIONS.has(word)) return !/\p{N}/u.test(character);
  const following = window.word(next, WORD_MAX_CHARS);
  if (following === null || !window.has(next + following.length)) return null;
  if (TIME_OF_DAY.test(word)) return !/\p{N}/u.test(character) && !AFTER_TIME.has(following);
  // "J. A. Smith": another initial does not begin a sentence.
  return SENTENCE_STARTERS.has(following) && window.at(next + following.length) !== '.';
}

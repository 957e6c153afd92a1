/**
 * Cuts a stream of text into sentences, each as early as it is certain. Every decision depends on a limited number of
 * characters and is taken once they have come, so it does not matter in which pieces the text comes.
 */
import { CLAUSE_STARTERS } from './abbreviations.ts';
import { endsSentence, isCloser, isOrdinaryStop, isStop } from './stops.ts';
import { isSpace, Window } from './window.ts';

/** A sentence without any stop is cut before this length. */
const SENTENCE_MAX_CHARS = 300;

/** Shortest beginning of the first sentence that is spoken on its own. */
const FIRST_CLAUSE_CHARS = 24;

/** Before a conjunction a clause must be this many times longer than before punctuation. */
const CONJUNCTION_FACTOR = 2;

const CLAUSE_MARKS = ',;:—–-';
const CONJUNCTION_MAX_CHARS = 8;

/** The end of a sentence; `on` = not at this character; `wait` = more text is needed to know. */
type Decision = number | 'on' | 'wait';

/** Takes text in pieces of any size and returns its sentences. Together they are the text, white space included. */
export class SentenceSplitter {
  readonly #firstClauseChars: number;
  #pending = '';
  /** Characters at the beginning of {@link #pending} at which no sentence ends. */
  #decided = 0;
  #isFirst = true;

  /**
   * @param options.firstClauseChars shortest clause after which the first sentence is cut, 24 by default; Infinity = it
   * is not cut
   */
  constructor({ firstClauseChars = FIRST_CLAUSE_CHARS }: { firstClauseChars?: number } = {}) {
    this.#firstClauseChars = firstClauseChars;
  }

  /** The text that was pushed and has not been returned. */
  get held(): string {
    return this.#pending;
  }

  /** Removes the last `chars` characters of {@link held}; nothing may be pushed after that. */
  takeBack(chars: number): void {
    this.#pending = this.#pending.slice(0, this.#pending.length - chars);
  }

  /** Takes more text and returns the complete sentences, each with the white space after it. */
  push(piece: string): string[] {
    this.#pending += piece;
    return this.#take(false);
  }

  /** Ends the text and returns the rest. The next piece begins another text. */
  flush(): string[] {
    const sentences = this.#take(true);
    if (this.#pending !== '') sentences.push(this.#pending);
    this.#pending = '';
    this.#decided = 0;
    this.#isFirst = true;
    return sentences;
  }

  #take(isWhole: boolean): string[] {
    const sentences: string[] = [];
    for (let cut = this.#findCut(isWhole); cut !== null; cut = this.#findCut(isWhole)) {
      sentences.push(this.#pending.slice(0, cut));
      this.#pending = this.#pending.slice(cut);
      this.#decided = 0;
      this.#isFirst = false;
    }
    return sentences;
  }

  /** The end of the first pending sentence; null = not known yet. */
  #findCut(isWhole: boolean): number | null {
    const window = new Window(this.#pending, isWhole);
    for (let at = this.#decided; at < window.length; at++) {
      if (at >= SENTENCE_MAX_CHARS) return cutAnywhere(this.#pending);
      const decision = this.#decide(window, at);
      if (typeof decision === 'number') return decision < window.length ? decision : null;
      if (decision === 'wait') return null;
      this.#decided = at + 1;
    }
    return null;
  }

  #decide(window: Window, at: number): Decision {
    const character = window.at(at);
    if (character === '\n') return decideAtNewline(window, at);
    if (isStop(character)) return decideAtStop(window, at);
    if (!this.#isFirst || at + 1 < this.#firstClauseChars) return 'on';
    if (CLAUSE_MARKS.includes(character)) return decideAtClauseMark(window, at);
    if (isSpace(character) && at + 1 >= this.#firstClauseChars * CONJUNCTION_FACTOR)
      return decideAtConjunction(window, at);
    return 'on';
  }
}

/** A line ends a sentence unless the next one continues in lower case, or the line was white space. */
function decideAtNewline(window: Window, at: number): Decision {
  if (window.text.slice(0, at).trim() === '') return 'on';
  const next = window.skipSpace(at);
  if (next === null) return 'wait';
  const isParagraph = window.text.slice(at + 1, next).includes('\n');
  return isParagraph || !/\p{Ll}/u.test(window.at(next)) ? next : 'on';
}

/** A stop ends a sentence by itself in scripts without a space after it; otherwise it depends on the next words. */
function decideAtStop(window: Window, at: number): Decision {
  if (!window.has(at + 1)) return 'wait';
  if (isStop(window.at(at + 1))) return 'on';
  const end = window.skip(at + 1, isCloser);
  if (end === null) return 'wait';
  const isOrdinary = isOrdinaryStop(window.at(at));
  if (isOrdinary && end < window.length && !isSpace(window.at(end))) return 'on';
  const next = window.skipSpace(end);
  if (next === null) return 'wait';
  if (!isOrdinary || next >= window.length) return next;
  const decision = endsSentence(window, { stop: at, end, next });
  if (decision === null) return 'wait';
  return decision ? next : 'on';
}

/** A comma or colon before a space, or a dash, ends a clause. "May 5, 2024" and "5–10" are not cut. */
function decideAtClauseMark(window: Window, at: number): Decision {
  const end = window.skip(at + 1, isCloser);
  if (end === null) return 'wait';
  const next = window.skipSpace(end);
  if (next === null) return 'wait';
  const mark = window.at(at);
  if (mark === '—') return next;
  if (next === end || /\p{N}/u.test(window.at(next))) return 'on';
  return '–-'.includes(mark) && !isSpace(window.text.charAt(at - 1)) ? 'on' : next;
}

/** White space before "and", "because" and the like ends a clause. */
function decideAtConjunction(window: Window, at: number): Decision {
  const word = window.word(at + 1, CONJUNCTION_MAX_CHARS);
  if (word === null) return 'wait';
  return CLAUSE_STARTERS.has(word) ? at + 1 : 'on';
}

/** Cuts a text that is too long after its last comma or the like, or at its last space, or inside a word. */
function cutAnywhere(text: string): number {
  let space = 0;
  for (let at = SENTENCE_MAX_CHARS - 1; at > 0; at--) {
    if (!isSpace(text.charAt(at))) continue;
    space ||= at + 1;
    if (at < SENTENCE_MAX_CHARS / 2) break;
    if (CLAUSE_MARKS.includes(text.charAt(at - 1))) return at + 1;
  }
  if (space > 0) return space;
  const splitsPair = /[\ud800-\udbff]/.test(text.charAt(SENTENCE_MAX_CHARS - 1));
  return splitsPair ? SENTENCE_MAX_CHARS - 1 : SENTENCE_MAX_CHARS;
}

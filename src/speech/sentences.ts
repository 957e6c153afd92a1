/**
 * Cuts a stream of text into sentences, each as early as it is certain. Every decision looks at a bounded stretch of
 * text and is taken once that stretch has come, so how the text was dealt out makes no difference.
 */
import { CLAUSE_STARTERS } from './abbreviations.ts';
import { endsSentence, isClosed, isOrdinaryStop, isStop } from './stops.ts';
import { isSpace, Window } from './window.ts';

/** A sentence without any stop is cut before this length. */
const SENTENCE_MAX_CHARS = 300;

/** Shortest beginning of the first sentence that is worth saying on its own. */
const FIRST_CLAUSE_CHARS = 24;

/**
 * Punctuation is as good a place as any; before a mere conjunction the clause must be longer than this many times the
 * shortest.
 */
const CONJUNCTION_FACTOR = 2;

const CLAUSE_MARKS = ',;:—–-';
const CONJUNCTION_MAX_CHARS = 8;

/** Where a sentence ends; `on` = not at this character; `wait` = more text has to come before that can be said. */
type Verdict = number | 'on' | 'wait';

/**
 * Text comes in by pieces of any size and goes out by sentences; together they are the same text, white space included.
 */
export class SentenceSplitter {
  readonly #firstClauseChars: number;
  #pending = '';
  /** Characters of {@link #pending} at which no sentence ends. */
  #judged = 0;
  #isFirst = true;

  /**
   * @param options.firstClauseChars shortest clause at which the first sentence is cut, 24 unless given; Infinity = it
   * is not cut.
   */
  constructor({ firstClauseChars = FIRST_CLAUSE_CHARS }: { firstClauseChars?: number } = {}) {
    this.#firstClauseChars = firstClauseChars;
  }

  /** What was pushed and not yet given. */
  get held(): string {
    return this.#pending;
  }

  /** Takes the last `chars` characters of {@link held} away again; nothing may be pushed after that. */
  takeBack(chars: number): void {
    this.#pending = this.#pending.slice(0, this.#pending.length - chars);
  }

  /** Takes more text and gives the sentences that are complete, each with the white space behind it. */
  push(piece: string): string[] {
    this.#pending += piece;
    return this.#take(false);
  }

  /** The text is at its end: gives what is left. The next piece begins another text. */
  flush(): string[] {
    const sentences = this.#take(true);
    if (this.#pending !== '') sentences.push(this.#pending);
    this.#pending = '';
    this.#judged = 0;
    this.#isFirst = true;
    return sentences;
  }

  #take(isWhole: boolean): string[] {
    const sentences: string[] = [];
    for (let cut = this.#findCut(isWhole); cut !== null; cut = this.#findCut(isWhole)) {
      sentences.push(this.#pending.slice(0, cut));
      this.#pending = this.#pending.slice(cut);
      this.#judged = 0;
      this.#isFirst = false;
    }
    return sentences;
  }

  /** The end of the first sentence of what is pending; null = not there yet. */
  #findCut(isWhole: boolean): number | null {
    const window = new Window(this.#pending, isWhole);
    for (let at = this.#judged; at < window.length; at++) {
      if (at >= SENTENCE_MAX_CHARS) return cutAnywhere(this.#pending);
      const verdict = this.#judge(window, at);
      if (typeof verdict === 'number') return verdict < window.length ? verdict : null;
      if (verdict === 'wait') return null;
      this.#judged = at + 1;
    }
    return null;
  }

  #judge(window: Window, at: number): Verdict {
    const character = window.at(at);
    if (character === '\n') return judgeNewline(window, at);
    if (isStop(character)) return judgeStop(window, at);
    if (!this.#isFirst || at + 1 < this.#firstClauseChars) return 'on';
    if (CLAUSE_MARKS.includes(character)) return judgeClauseMark(window, at);
    if (isSpace(character) && at + 1 >= this.#firstClauseChars * CONJUNCTION_FACTOR)
      return judgeConjunction(window, at);
    return 'on';
  }
}

/** A line ends a sentence unless the next one goes on in lower case, or there was nothing but white space. */
function judgeNewline(window: Window, at: number): Verdict {
  if (window.text.slice(0, at).trim() === '') return 'on';
  const next = window.skipSpace(at);
  if (next === null) return 'wait';
  const isParagraph = window.text.slice(at + 1, next).includes('\n');
  return isParagraph || !/\p{Ll}/u.test(window.at(next)) ? next : 'on';
}

/** A stop ends a sentence by itself in the scripts that put no space behind it, elsewhere by what follows. */
function judgeStop(window: Window, at: number): Verdict {
  if (!window.has(at + 1)) return 'wait';
  if (isStop(window.at(at + 1))) return 'on';
  const end = window.skip(at + 1, isClosed);
  if (end === null) return 'wait';
  const isOrdinary = isOrdinaryStop(window.at(at));
  if (isOrdinary && end < window.length && !isSpace(window.at(end))) return 'on';
  const next = window.skipSpace(end);
  if (next === null) return 'wait';
  if (!isOrdinary || next >= window.length) return next;
  const verdict = endsSentence(window, { stop: at, end, next });
  if (verdict === null) return 'wait';
  return verdict ? next : 'on';
}

/** A comma or colon with a space behind it, or a dash. "May 5, 2024" and "5–10" belong together. */
function judgeClauseMark(window: Window, at: number): Verdict {
  const end = window.skip(at + 1, isClosed);
  if (end === null) return 'wait';
  const next = window.skipSpace(end);
  if (next === null) return 'wait';
  const mark = window.at(at);
  if (mark === '—') return next;
  if (next === end || /\p{N}/u.test(window.at(next))) return 'on';
  return '–-'.includes(mark) && !isSpace(window.text.charAt(at - 1)) ? 'on' : next;
}

/** The white space in front of "and", "because" and their like. */
function judgeConjunction(window: Window, at: number): Verdict {
  const word = window.word(at + 1, CONJUNCTION_MAX_CHARS);
  if (word === null) return 'wait';
  return CLAUSE_STARTERS.has(word) ? at + 1 : 'on';
}

/**
 * Cuts a text that is too long behind its last comma or the like, else at its last space, else in the middle of a word.
 */
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

/** The part of a text that a search found, with the words that it looked for marked. */
import type { SearchPhrase, SearchQuery } from './search-query.ts';
import { type TextWord, wordsOf } from './search-words.ts';

/** A stretch of a snippet. All parts together are the snippet. */
export interface SnippetPart {
  readonly text: string;
  /** The search looked for it. */
  readonly marked: boolean;
}

/** About as many characters of a long text are shown. */
const SNIPPET_CHARS = 240;
/** Of those, as many before the first mark. */
const LEAD_CHARS = 60;
const ELLIPSIS = '…';

/** `text`, cut around the first mark where it is long, in parts; adjacent marked words of a phrase are one part. */
export function snippetOf(text: string, query: SearchQuery): SnippetPart[] {
  const marks = marksIn(wordsOf(text), query);
  const { start, end } = windowOf(text, marks[0]?.start ?? 0);
  const parts: SnippetPart[] = [];
  const add = (from: number, to: number, marked: boolean): void => {
    const part = text.slice(Math.max(from, start), Math.min(to, end));
    if (part !== '') parts.push({ text: part, marked });
  };
  let at = start;
  for (const mark of marks) {
    add(at, mark.start, false);
    add(mark.start, mark.end, true);
    at = mark.end;
  }
  add(at, end, false);
  if (start > 0) parts.unshift({ text: ELLIPSIS, marked: false });
  if (end < text.length) parts.push({ text: ELLIPSIS, marked: false });
  return parts;
}

interface Mark {
  readonly start: number;
  readonly end: number;
}

/** Where the phrases that must occur do occur, in order, without overlaps. */
function marksIn(words: readonly TextWord[], { required }: SearchQuery): Mark[] {
  const phrases = required.flat();
  const marks: Mark[] = [];
  for (let at = 0; at < words.length; ) {
    const length = Math.max(0, ...phrases.filter((phrase) => occursAt(words, at, phrase)).map((p) => p.words.length));
    const [first, last] = [words[at], words[at + length - 1]];
    if (length > 0 && first !== undefined && last !== undefined) marks.push({ start: first.start, end: last.end });
    at += Math.max(length, 1);
  }
  return marks;
}

function occursAt(words: readonly TextWord[], at: number, { words: wanted, isPrefix }: SearchPhrase): boolean {
  return wanted.every((word, index) => {
    const found = words[at + index]?.word;
    if (isPrefix && index === wanted.length - 1) return found?.startsWith(word) === true;
    return found === word;
  });
}

/** What is shown: whole words, as far as there are spaces. */
function windowOf(text: string, firstMark: number): Mark {
  if (text.length <= SNIPPET_CHARS) return { start: 0, end: text.length };
  const wanted = Math.max(0, Math.min(firstMark - LEAD_CHARS, text.length - SNIPPET_CHARS));
  const start = wanted === 0 ? 0 : behindSpace(text, wanted, firstMark);
  const last = Math.min(text.length, start + SNIPPET_CHARS);
  const space = last === text.length ? -1 : text.lastIndexOf(' ', last);
  return { start, end: space > firstMark ? space : last };
}

function behindSpace(text: string, from: number, before: number): number {
  const space = text.indexOf(' ', from);
  return space >= 0 && space < before ? space + 1 : from;
}

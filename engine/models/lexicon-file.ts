/**
 * The operator's file of words that are to be said in a way of their own. Each line has a word or a phrase and either
 * its phonemes in slashes or how it would be spelt if it were said as it is spelt:
 *
 *     # names and products
 *     Trunkline  /tɹˈʌŋklˌIn/
 *     SQL = sequel
 *     [en-GB] schedule  /ʃˈɛdjuːl/
 *
 * Lines for one language begin with it in brackets; the others are for all English voices.
 */
import { findPhonemeProblem, toPhonemes } from './phoneme-symbols.ts';

/** How a word is to be said. */
export interface LexiconEntry {
  /** As it is written in texts. */
  readonly words: string;
  /** BCP-47: voices of this language, or of a region of it. */
  readonly language: string;
  /** Phonemes of hibari and Kokoro, or plain words. */
  readonly kind: 'phonemes' | 'respelling';
  readonly said: string;
  /** Counted from 1. */
  readonly line: number;
}

/** Longest file, in bytes. */
export const LEXICON_MAX_BYTES = 1_048_576;
const ENTRIES_MAX = 10_000;
const WORDS_MAX_CHARS = 80;
const SAID_MAX_CHARS = 200;
const QUOTED_CHARS = 60;

const USUAL_LANGUAGE = 'en';
const LANGUAGE = /^\[([a-z]{2,3}(?:-[a-z0-9]{2,8}){0,3})\][ \t]*/i;
const WORDS = /^[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}'&.+_ -]*[\p{L}\p{N}\p{M}])?$/u;
const SPEAKABLE = /[\p{L}\p{N}]/u;
const FORMS = 'expected "word /phonemes/" or "word = respelling"';

/** A line that is not as it must be: which one, what came and what was expected. */
export class LexiconError extends Error {
  constructor(line: number, problem: string) {
    super(`line ${line}: ${problem}`);
    this.name = 'LexiconError';
  }
}

/**
 * The entries of a file, in order.
 * @throws LexiconError at the first line that is wrong.
 */
export function parseLexicon(text: string): LexiconEntry[] {
  const entries = new Map<string, LexiconEntry>();
  for (const [at, written] of text
    .replace(/^\ufeff/, '')
    .split(/\r\n|\n|\r/)
    .entries()) {
    const content = written.trim();
    if (content === '' || content.startsWith('#')) continue;
    const entry = parseEntry(content, at + 1);
    const key = `${entry.language} ${entry.words}`;
    const same = entries.get(key);
    if (same !== undefined) throw new LexiconError(at + 1, `${quote(entry.words)} is in line ${same.line} already`);
    if (entries.size >= ENTRIES_MAX) throw new LexiconError(at + 1, `expected at most ${ENTRIES_MAX} entries`);
    entries.set(key, entry);
  }
  return [...entries.values()];
}

function parseEntry(content: string, line: number): LexiconEntry {
  const language = LANGUAGE.exec(content);
  const rest = content.slice(language?.[0].length ?? 0);
  const at = rest.search(/[/=]/);
  if (at < 0 || rest.startsWith('[')) throw new LexiconError(line, `got ${quote(content)}, ${FORMS}`);
  const words = checkWords(rest.slice(0, at), line);
  const isRespelling = rest.charAt(at) === '=';
  return {
    words,
    language: (language?.[1] ?? USUAL_LANGUAGE).toLowerCase(),
    kind: isRespelling ? 'respelling' : 'phonemes',
    said: isRespelling ? checkRespelling(rest.slice(at + 1), line) : checkPhonemes(rest.slice(at), line),
    line,
  };
}

function checkWords(written: string, line: number): string {
  const words = written
    .trim()
    .replace(/[ \t]+/g, ' ')
    .replaceAll('’', "'")
    .normalize('NFC');
  if (words.length > WORDS_MAX_CHARS) {
    throw new LexiconError(line, `the word has ${words.length} characters, expected at most ${WORDS_MAX_CHARS}`);
  }
  if (WORDS.test(words)) return words;
  throw new LexiconError(
    line,
    `got the word ${quote(words)}, expected letters and digits, with spaces, hyphens, apostrophes, ` +
      'stops, "&", "+" or "_" between them',
  );
}

function checkRespelling(written: string, line: number): string {
  const said = written.trim().replace(/\s+/g, ' ');
  if (!SPEAKABLE.test(said)) throw new LexiconError(line, `got ${quote(said)}, expected words to say behind "="`);
  if (said.length <= SAID_MAX_CHARS) return said;
  throw new LexiconError(line, `the respelling has ${said.length} characters, expected at most ${SAID_MAX_CHARS}`);
}

function checkPhonemes(written: string, line: number): string {
  const inside = /^\/([^/]*)\/$/.exec(written)?.[1];
  if (inside === undefined) throw new LexiconError(line, `got ${quote(written)}, expected /phonemes/ and no more`);
  const said = toPhonemes(inside.trim().replace(/\s+/g, ' '));
  const problem = findPhonemeProblem(said);
  if (problem !== null) throw new LexiconError(line, problem);
  if (said.length <= SAID_MAX_CHARS) return said;
  throw new LexiconError(line, `got ${said.length} phonemes, expected at most ${SAID_MAX_CHARS}`);
}

function quote(text: string): string {
  return JSON.stringify(text.length > QUOTED_CHARS ? `${text.slice(0, QUOTED_CHARS)}…` : text);
}

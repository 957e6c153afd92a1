/** Timed words → subtitles: cues of at most two lines that can be read in their time. */
import type { Cue } from './cue-formats.ts';
import type { TimedWord } from './estimated-word-times.ts';
import { type LinePart, staysWithBefore } from './line-breaks.ts';
import { splitWords } from './words.ts';

/** What a cue may be like. */
export interface CueRules {
  /** Display columns of a line; characters of East Asian scripts take two. */
  readonly maxLineColumns: number;
  readonly maxCueMs: number;
}

/** A word, or a letter of one in a script without spaces. */
interface CueWord extends TimedWord {
  readonly staysWithBefore: boolean;
}

const LINES_MAX = 2;
/** Words have at least this much of a line, however long the speaker's name is. */
const LINE_COLUMNS_MIN = 10;
/** Shorter cues cannot be read, so a cue stays this long where the next one leaves room. */
const CUE_MIN_MS = 833;
/** Between two cues of one speaker, so that the change is seen. */
const CUE_GAP_MS = 83;
/** A longer pause begins a new cue. */
const PAUSE_MAX_MS = 500;
/** A cue of n columns stays for n / this many seconds where there is room. */
const READING_COLUMNS_PER_S = 17;
/** From this length on a sentence's end also ends its cue. */
const SENTENCE_COLUMNS_MIN = 24;

/** East Asian Width W and F (UAX #11), as far as speech is written with them; half-width kana are narrow. */
const WIDE = new RegExp(
  '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Hangul}\\u30A0-\\u30FF\\u31F0-\\u31FF\\u3000-\\u303F' +
    '\\uFF00-\\uFF60\\uFFE0-\\uFFE6\\p{Extended_Pictographic}]',
  'u',
);
const ZERO_WIDTH = /[\p{M}\p{Cf}]/u;
const SENTENCE_END = /[.!?。！？…]["'”’)]*$/u;

/** How many columns `text` takes on a display of fixed-width characters. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) columns += ZERO_WIDTH.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return columns;
}

/**
 * `words` of one speaker, in order, as cues. Lines keep to `maxLineColumns` (a longer word is broken), cues to two
 * lines and `maxCueMs`; they do not overlap and keep a gap; none spans a longer pause. Their lines joined have every
 * word once.
 */
export function makeCues(words: readonly TimedWord[], rules: CueRules, speaker: string | null = null): Cue[] {
  const groups: CueWord[][] = [];
  for (const word of toCueWords(words, rules.maxLineColumns)) {
    const group = groups.at(-1);
    if (group !== undefined && fits(group, word, rules)) group.push(word);
    else groups.push([word]);
  }
  return timeCues(groups, rules, speaker);
}

function fits(group: readonly CueWord[], word: CueWord, rules: CueRules): boolean {
  const first = group[0];
  const last = group.at(-1);
  if (first === undefined || last === undefined) return true;
  if (word.startMs - last.endMs > PAUSE_MAX_MS || word.endMs - first.startMs > rules.maxCueMs) return false;
  if (SENTENCE_END.test(last.text) && columnsOf(group.map(({ text }) => text).join(' ')) >= SENTENCE_COLUMNS_MIN)
    return false;
  return wrap([...group, word], rules.maxLineColumns).length <= LINES_MAX;
}

/** What is left of a line of `maxColumns` for words: SubRip names the speaker in it. */
export function columnsBeside(speaker: string | null, format: string, maxColumns: number): number {
  const nameColumns = speaker === null || format !== 'srt' ? 0 : columnsOf(`${speaker}: `);
  return Math.max(maxColumns - nameColumns, LINE_COLUMNS_MIN);
}

/** `text` as lines of at most `maxColumns` columns; at least one line. */
export function wrapText(text: string, maxColumns: number): string[] {
  const written = splitWords(text.replace(/\s+/g, ' ')).map((word) => ({ ...word, startMs: 0, endMs: 0 }));
  const words = toCueWords(written, maxColumns);
  return words.length === 0 ? [text.trim()] : wrap(words, maxColumns);
}

/**
 * `cue` with another text, in its time. Where that needs more than two lines, several cues share the time by their
 * columns; where it is empty, there is none.
 */
export function retellCue(cue: Cue, text: string, maxLineColumns: number): Cue[] {
  const lines = wrapText(text, maxLineColumns).filter((line) => line !== '');
  const parts = Array.from({ length: Math.ceil(lines.length / LINES_MAX) }, (_, part) =>
    lines.slice(part * LINES_MAX, (part + 1) * LINES_MAX),
  );
  const columns = parts.map((part) => columnsOf(part.join('')));
  const total = columns.reduce((sum, each) => sum + each, 0);
  const lengthMs = cue.endMs - cue.startMs;
  const gapMs = Math.min(CUE_GAP_MS, Math.floor(lengthMs / (2 * parts.length)));
  const fromMs = (part: number): number => {
    const before = columns.slice(0, part).reduce((sum, each) => sum + each, 0);
    return cue.startMs + Math.round((lengthMs * before) / total);
  };
  return parts.map((part, index) => {
    const startMs = fromMs(index);
    const endMs = index + 1 === parts.length ? cue.endMs : Math.max(fromMs(index + 1) - gapMs, startMs + 1);
    return { ...cue, startMs, endMs, lines: part };
  });
}

/** The words as lines, each filled as far as it goes. */
function wrap(words: readonly CueWord[], maxColumns: number): string[] {
  const lines: string[] = [];
  for (const { text, spaced } of unitsOf(words, maxColumns)) {
    const line = lines.at(-1);
    const longer = line === undefined ? text : `${line}${spaced ? ' ' : ''}${text}`;
    if (line !== undefined && columnsOf(longer) <= maxColumns) lines[lines.length - 1] = longer;
    else lines.push(text);
  }
  return lines;
}

function toCueWords(words: readonly TimedWord[], maxColumns: number): CueWord[] {
  const parts = words.flatMap((each) => breakWord(each, maxColumns));
  const stays = staysWithBefore(parts);
  return parts.map((part, index) => ({ ...part, staysWithBefore: stays[index] === true }));
}

/** What must stay on one line, as far as one can hold it. */
function unitsOf(words: readonly CueWord[], maxColumns: number): LinePart[] {
  const units: { text: string; spaced: boolean }[] = [];
  for (const { text, spaced, staysWithBefore: stays } of words) {
    const last = units.at(-1);
    if (last !== undefined && stays && columnsOf(last.text + text) <= maxColumns) last.text += text;
    else units.push({ text, spaced });
  }
  return units;
}

/** A word that no line can hold, in parts that share its time. */
function breakWord(word: TimedWord, maxColumns: number): TimedWord[] {
  if (columnsOf(word.text) <= maxColumns) return [word];
  const parts: string[] = [''];
  for (const character of word.text) {
    const longer = `${parts.at(-1)}${character}`;
    if (columnsOf(longer) <= maxColumns || parts.at(-1) === '') parts[parts.length - 1] = longer;
    else parts.push(character);
  }
  const at = (index: number): number => Math.round(word.startMs + ((word.endMs - word.startMs) * index) / parts.length);
  return parts.map((text, index) => ({
    text,
    spaced: index === 0 && word.spaced,
    startMs: at(index),
    endMs: at(index + 1),
  }));
}

function timeCues(groups: readonly (readonly CueWord[])[], rules: CueRules, speaker: string | null): Cue[] {
  const cues: Cue[] = [];
  groups.forEach((group, index) => {
    const lines = wrap(group, rules.maxLineColumns);
    const spokenFrom = group[0]?.startMs ?? 0;
    const spokenTo = group.at(-1)?.endMs ?? spokenFrom;
    const startMs = Math.max(spokenFrom, (cues.at(-1)?.endMs ?? -CUE_GAP_MS) + CUE_GAP_MS);
    const readMs = Math.round((1000 * columnsOf(lines.join(' '))) / READING_COLUMNS_PER_S);
    const nextMs = groups[index + 1]?.[0]?.startMs ?? Number.POSITIVE_INFINITY;
    const wantedMs = Math.max(spokenTo, startMs + Math.max(CUE_MIN_MS, readMs));
    const endMs = Math.max(Math.min(wantedMs, nextMs - CUE_GAP_MS, startMs + rules.maxCueMs), startMs + 1);
    cues.push({ startMs, endMs, lines, speaker });
  });
  return cues;
}

/** What a prompt is made of when it is said: texts, recordings and pauses, one after the other. */
import { SentenceSplitter } from '../../speech/sentences.ts';
import type { MonoAudio } from '../../speech/wav-leveller.ts';
import type { FlowValue } from '../file/conditions.ts';
import type { FlowPrompt } from '../file/prompts.ts';
import { type PromptPart, readPromptText, type ValueFormat } from './prompt-text.ts';

/** A piece of a prompt. */
export type PromptPiece =
  /** `hasValue` = it holds the value of a variable, so that nobody can make it before. */
  | { readonly kind: 'text'; readonly text: string; readonly hasValue: boolean }
  /** `text` = what it says, or what it is called where nobody wrote that down. */
  | { readonly kind: 'recording'; readonly sound: MonoAudio; readonly text: string }
  | { readonly kind: 'pause'; readonly ms: number };

/** Finds the operator's own recordings. */
export interface PromptRecordings {
  /** The recording of that name for a language such as en-US; null = there is none. */
  find(name: string, language: string): MonoAudio | null;
}

/** What pieces are made with. */
export interface PieceSources {
  /** The language that the flow speaks. */
  readonly language: string;
  readonly recordings: PromptRecordings;
  /** That of the flow's file, whose recordings are played where there is nothing else; absent or null = none. */
  readonly flowLanguage?: string | null;
  /** Null = it was never set. */
  valueOf(variable: string): FlowValue;
  /** A value as it is said. */
  sayValue(value: FlowValue, format: ValueFormat | null, language: string): string;
}

/** Stands for a value until it is known where sentences end. Not a character that texts have. */
const VALUE = '\uE000';
/**
 * A clause that ends before a value, or begins after one, is a piece of its own from so many characters on. The voice
 * makes a pause at its mark anyhow; shorter ones sound like single words.
 */
const CLAUSE_MIN_CHARS = 12;
const CLAUSE_END = /[,:;–—]\s/gu;

/**
 * The pieces of a prompt in order; none where there is nothing to say. A text is cut at its pauses, and around
 * sentences with values; such a sentence is cut at a comma, colon, semicolon or dash before its first value and after
 * its last. What holds no value is the same in each call, and so can be made before.
 * @throws PromptTextError for a text that cannot be read
 */
export function piecesOf({ text = '', recording }: FlowPrompt, sources: PieceSources): PromptPiece[] {
  const { language, recordings, flowLanguage = null } = sources;
  const asked = recording === undefined ? null : recordings.find(recording, language);
  const hasOther = recording !== undefined && text === '' && flowLanguage !== null;
  const sound = asked ?? (hasOther ? recordings.find(recording, flowLanguage) : null);
  if (sound !== null) return [{ kind: 'recording', sound, text: text === '' ? (recording ?? '') : text }];
  const pieces: PromptPiece[] = [];
  let run: Exclude<PromptPart, { kind: 'pause' }>[] = [];
  for (const part of readPromptText(text)) {
    if (part.kind !== 'pause') {
      run.push(part);
      continue;
    }
    pieces.push(...textsOf(run, sources), part);
    run = [];
  }
  return [...pieces, ...textsOf(run, sources)];
}

/** Words and values without a pause, cut so that as much as possible is the same in each call. */
function textsOf(parts: readonly Exclude<PromptPart, { kind: 'pause' }>[], sources: PieceSources): PromptPiece[] {
  const values = parts.flatMap((part) => (part.kind === 'value' ? [part] : []));
  const said = values.map(({ variable, format }) =>
    sources.sayValue(sources.valueOf(variable), format, sources.language),
  );
  const template = parts.map((part) => (part.kind === 'value' ? VALUE : part.text.replaceAll(VALUE, ' '))).join('');
  let taken = 0;
  const pieces = cut(template).map((text): PromptPiece => {
    const hasValue = text.includes(VALUE);
    return { kind: 'text', text: text.replaceAll(VALUE, () => said[taken++] ?? ''), hasValue };
  });
  return pieces.filter((piece) => piece.kind !== 'text' || piece.text.trim() !== '');
}

function cut(template: string): string[] {
  if (!template.includes(VALUE)) return [template];
  const splitter = new SentenceSplitter({ firstClauseChars: Number.POSITIVE_INFINITY });
  const sentences = [...splitter.push(template), ...splitter.flush()];
  const pieces: string[] = [];
  let same = '';
  for (const sentence of sentences) {
    if (!sentence.includes(VALUE)) {
      same += sentence;
      continue;
    }
    pieces.push(same, ...cutAtClauses(sentence));
    same = '';
  }
  return [...pieces, same].filter((piece) => piece !== '');
}

/** A sentence with values: what comes before the clause of its first value, that, and what comes after the last. */
function cutAtClauses(sentence: string): string[] {
  const [first, last] = [sentence.indexOf(VALUE), sentence.lastIndexOf(VALUE)];
  const ends = [...sentence.matchAll(CLAUSE_END)].map(({ index, 0: mark }) => index + mark.length);
  const before = ends.findLast((end) => end <= first && end >= CLAUSE_MIN_CHARS) ?? 0;
  const after = ends.find((end) => end > last && sentence.length - end >= CLAUSE_MIN_CHARS) ?? sentence.length;
  return [sentence.slice(0, before), sentence.slice(before, after), sentence.slice(after)];
}

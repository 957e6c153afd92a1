/** What a prompt is made of when it is said: texts, recordings and pauses, one after the other. */
import type { MonoAudio } from '../../speech/wav-leveller.ts';
import type { FlowValue } from '../file/conditions.ts';
import type { FlowPrompt } from '../file/prompts.ts';
import { readPromptText, type ValueFormat } from './prompt-text.ts';

/** A piece of a prompt. */
export type PromptPiece =
  | { readonly kind: 'text'; readonly text: string }
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
  /** Null = it was never set. */
  valueOf(variable: string): FlowValue;
  /** A value as it is said. */
  sayValue(value: FlowValue, format: ValueFormat | null, language: string): string;
}

/**
 * The pieces of a prompt in order; none where there is nothing to say.
 * @throws PromptTextError for a text that cannot be read
 */
export function piecesOf({ text = '', recording }: FlowPrompt, sources: PieceSources): PromptPiece[] {
  const { language, recordings } = sources;
  const sound = recording === undefined ? null : recordings.find(recording, language);
  if (sound !== null) return [{ kind: 'recording', sound, text: text === '' ? (recording ?? '') : text }];
  const pieces: PromptPiece[] = [];
  let words = '';
  const flush = (): void => {
    if (words.trim() !== '') pieces.push({ kind: 'text', text: words });
    words = '';
  };
  for (const part of readPromptText(text)) {
    if (part.kind === 'words') words += part.text;
    else if (part.kind === 'value') words += sources.sayValue(sources.valueOf(part.variable), part.format, language);
    else {
      flush();
      pieces.push({ kind: 'pause', ms: part.ms });
    }
  }
  flush();
  return pieces;
}

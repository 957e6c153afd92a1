/** Captions as Deepgram's messages are made of them. */

import { spreadWords, type TimedWord } from '../../transcription/estimated-word-times.ts';
import type { SaidText } from './wire/messages.ts';

/** What is needed of a caption, a session's or a call's. */
export interface HeardCaption {
  readonly text: string;
  readonly final: boolean;
  readonly startMs: number;
  readonly endMs: number;
  readonly confidence?: number;
  readonly language?: string | null;
  /** Absent = nobody knows when they were spoken. */
  readonly words?: readonly TimedWord[];
}

/** `caption` with a time for each of its words. */
export function saidText({ text, final, startMs, endMs, confidence, language, words }: HeardCaption): SaidText {
  return {
    text,
    final,
    startMs,
    endMs,
    words: words ?? spreadWords(text, startMs, endMs),
    ...(confidence !== undefined && { confidence }),
    ...(language !== undefined && { language }),
  };
}

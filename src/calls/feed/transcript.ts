/** A call's final captions and gaps, also as text that people and players read. */
import type { Track } from '../../protocols/dialect.ts';
import { type Cue, formatSrt, formatTime, formatVtt } from '../../transcription/cue-formats.ts';
import type { CaptionEvent, GapEvent, GapReason, RevisionEvent } from './events.ts';

/** One utterance as it was finally recognised; times in ms of the call's received audio. */
export interface FinalCaption {
  readonly kind: 'caption';
  readonly track: Track;
  /** Counts the track's utterances from 1. */
  readonly utterance: number;
  /** The version of its text, from 2 where a revision replaced that of the final caption. */
  readonly version?: number;
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
  /** These three as in the final caption; gone with a revision. */
  readonly confidence?: number;
  readonly lowConfidence?: true;
  readonly language?: null;
}

/**
 * A stretch of which the transcript has nothing, as a `gap` event told it; `limit`: there were finals, more than are
 * kept.
 */
export interface TranscriptGap {
  readonly kind: 'gap';
  readonly track: Track;
  readonly startMs: number;
  readonly endMs: number;
  readonly reason: GapReason | 'limit';
}

/** One entry of a transcript. */
export type TranscriptItem = FinalCaption | TranscriptGap;

/** A final caption, as a transcript has it. */
export function finalOf(event: CaptionEvent): FinalCaption {
  const { track, utterance, text, startMs, endMs, confidence, lowConfidence, language } = event;
  return {
    kind: 'caption',
    track,
    utterance,
    text,
    startMs,
    endMs,
    ...(confidence !== undefined && { confidence }),
    ...(lowConfidence && { lowConfidence }),
    ...(language === null && { language }),
  };
}

/** A final caption with a later text. */
export function revisionOf({ track, utterance, version, text, startMs, endMs }: RevisionEvent): FinalCaption {
  return { kind: 'caption', track, utterance, version, text, startMs, endMs };
}

/** A gap, as a transcript has it. */
export function gapOf({ track, startMs, endMs, reason }: GapEvent): TranscriptGap {
  return { kind: 'gap', track, startMs, endMs, reason };
}

/** What people read in place of the words of a gap. */
const MISSING = 'missing';

/** `text`: a line for each item; `srt`: SubRip; `vtt`: WebVTT with a voice span for each track. */
export const TRANSCRIPT_TEXT_FORMATS = ['text', 'srt', 'vtt'] as const;
export type TranscriptTextFormat = (typeof TRANSCRIPT_TEXT_FORMATS)[number];

const HOUR_MS = 3_600_000;

/** Who speaks, as a transcript names them; null = it need not be said. */
export type NameSpeaker = (item: TranscriptItem) => string | null;

/** `items` in the order of their start. */
export function sortByTime(items: readonly TranscriptItem[]): TranscriptItem[] {
  return items.toSorted((a, b) => a.startMs - b.startMs || a.endMs - b.endMs);
}

/**
 * `items` in the order of their start, written as `format`; a gap is `[missing]`. The text ends with a newline unless
 * it is empty. Speakers are named by their track unless `nameSpeaker` knows better.
 */
export function formatTranscript(
  items: readonly TranscriptItem[],
  format: TranscriptTextFormat,
  nameSpeaker: NameSpeaker = (item) => item.track,
): string {
  const sorted = sortByTime(items);
  switch (format) {
    case 'text':
      return sorted.map((item) => formatLine(item, nameSpeaker)).join('');
    case 'srt':
      return withoutLastBlankLine(formatSrt(sorted.map((item) => toCue(item, nameSpeaker))));
    case 'vtt':
      return withoutLastBlankLine(formatVtt(sorted.map((item) => toCue(item, nameSpeaker))));
  }
}

function formatLine(item: TranscriptItem, nameSpeaker: NameSpeaker): string {
  const [start, end] = [formatShortTime(item.startMs), formatShortTime(item.endMs)];
  const text = item.kind === 'gap' ? `[${MISSING} ${start}–${end}]` : item.text;
  return `[${start}] ${withSpeaker(item, nameSpeaker, text)}\n`;
}

/** The words of a cue, which itself says from when until when. */
function cueText(item: TranscriptItem): string {
  return item.kind === 'gap' ? `[${MISSING}]` : item.text;
}

function withSpeaker(item: TranscriptItem, nameSpeaker: NameSpeaker, text: string): string {
  const speaker = nameSpeaker(item);
  return `${speaker === null ? '' : `${speaker}: `}${onOneLine(text)}`;
}

/** WebVTT §4.1: a cue's end lies after its start. */
function toCue(item: TranscriptItem, nameSpeaker: NameSpeaker): Cue {
  const { startMs, endMs } = item;
  return {
    startMs,
    endMs: Math.max(endMs, startMs + 1),
    lines: [onOneLine(cueText(item))],
    speaker: nameSpeaker(item),
  };
}

function withoutLastBlankLine(text: string): string {
  return text.slice(0, -1);
}

/** A blank line would end the cue. */
function onOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function formatShortTime(timeMs: number): string {
  const long = formatTime(timeMs, '.');
  return timeMs < HOUR_MS ? long.slice(long.indexOf(':') + 1) : long;
}

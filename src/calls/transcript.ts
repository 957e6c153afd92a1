/** A call's final captions as a text that people and players read. */
import type { Track } from '../carriers/carrier.ts';
import { formatTime } from '../transcription/subtitles.ts';

/** One utterance as it was finally understood; times in ms of the call's received audio. */
export interface FinalCaption {
  readonly track: Track;
  /** Counts the track's utterances from 1. */
  readonly utterance: number;
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** `json`: an array of {@link FinalCaption}; `text`: a line for each; `srt`: SubRip; `vtt`: WebVTT with a voice span for each track. */
export const TRANSCRIPT_FORMATS = ['json', 'text', 'srt', 'vtt'] as const;
export type TranscriptFormat = (typeof TRANSCRIPT_FORMATS)[number];

const HOUR_MS = 3_600_000;

/** Who speaks, as a transcript names them; null = it need not be said. */
export type NameSpeaker = (final: FinalCaption) => string | null;

/**
 * `finals` in the order of their start, written as `format`. Text formats end with a newline unless there is nothing to say; they name speakers
 * by their track unless `nameSpeaker` knows better.
 */
export function formatTranscript(
  finals: readonly FinalCaption[],
  format: TranscriptFormat,
  nameSpeaker: NameSpeaker = (final) => final.track,
): string {
  const sorted = finals.toSorted((a, b) => a.startMs - b.startMs || a.endMs - b.endMs);
  switch (format) {
    case 'json':
      return JSON.stringify(sorted.map(({ track, utterance, text, startMs, endMs }) => ({ track, utterance, text, startMs, endMs })));
    case 'text':
      return sorted.map((final) => `[${formatShortTime(final.startMs)}] ${withSpeaker(final, nameSpeaker)}\n`).join('');
    case 'srt':
      return sorted.map((final, index) => formatSrtCue(final, index, nameSpeaker)).join('\n');
    case 'vtt':
      return `WEBVTT\n${sorted.map((final) => formatVttCue(final, nameSpeaker)).join('')}`;
  }
}

function withSpeaker(final: FinalCaption, nameSpeaker: NameSpeaker): string {
  const speaker = nameSpeaker(final);
  return `${speaker === null ? '' : `${speaker}: `}${onOneLine(final.text)}`;
}

function formatSrtCue(final: FinalCaption, index: number, nameSpeaker: NameSpeaker): string {
  return `${index + 1}\n${formatTime(final.startMs, ',')} --> ${formatTime(cueEndMs(final), ',')}\n${withSpeaker(final, nameSpeaker)}\n`;
}

/** WebVTT §4.2.2: cue text may not hold `&` or `<` unescaped, nor `-->` anywhere. */
function formatVttCue(final: FinalCaption, nameSpeaker: NameSpeaker): string {
  const speaker = nameSpeaker(final);
  const text = onOneLine(final.text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return `\n${formatTime(final.startMs, '.')} --> ${formatTime(cueEndMs(final), '.')}\n${speaker === null ? '' : `<v ${speaker}>`}${text}\n`;
}

/** WebVTT §4.1: a cue's end lies after its start. */
function cueEndMs(final: FinalCaption): number {
  return Math.max(final.endMs, final.startMs + 1);
}

/** A blank line would end the cue. */
function onOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function formatShortTime(timeMs: number): string {
  const long = formatTime(timeMs, '.');
  return timeMs < HOUR_MS ? long.slice(long.indexOf(':') + 1) : long;
}

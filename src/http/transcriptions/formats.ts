/** A transcribed recording in the shapes of OpenAI's API (CreateTranscriptionResponse…). */

import { toOpenAiLogprobs } from '../../recordings/spoken-tokens.ts';
import type { RecordingTranscript, Segment } from '../../recordings/transcribe.ts';
import { confidenceOf } from '../../transcription/confidence.ts';
import { type Cue, formatSrt, formatVtt } from '../../transcription/cue-formats.ts';
import { columnsBeside, makeCues } from '../../transcription/subtitles.ts';
import { startsSpaced } from '../../transcription/words.ts';
import type { TranscriptionForm } from './fields.ts';

/** What was done with the recording. */
export interface Outcome extends RecordingTranscript {
  readonly task: 'transcribe' | 'translate';
  /** English name of the language of the texts, in lower case; null = probably none that the recogniser understands. */
  readonly language: string | null;
}

/** A body and its type. */
export interface Rendered {
  readonly contentType: string;
  readonly body: string;
}

type FormatOptions = Pick<
  TranscriptionForm,
  'response_format' | 'channels' | 'max_line_chars' | 'max_cue_ms' | 'timestamp_granularities'
> &
  Partial<Pick<TranscriptionForm, 'include'>>;

/** Whether somebody will see when something was said: subtitles, segments, words, or who spoke first. */
export function showsTimes({ response_format: format, channels }: FormatOptions): boolean {
  return (format !== 'json' && format !== 'text') || channels === 'split';
}

/** `outcome` as the client asked for it. */
export function render(outcome: Outcome, options: FormatOptions): Rendered {
  switch (options.response_format) {
    case 'json':
      return json({
        text: textOf(outcome.segments),
        ...(options.include?.includes('logprobs') && { logprobs: logprobsOf(outcome.segments) }),
        language: outcome.language,
        ...warningOf(outcome),
        usage: usageOf(outcome),
      });
    case 'verbose_json':
      return json(verbose(outcome, options));
    case 'text':
      return { contentType: 'text/plain; charset=utf-8', body: `${textOf(outcome.segments)}\n` };
    case 'srt':
    case 'vtt':
      return renderCues(cuesOf(outcome.segments, options), options.response_format);
  }
}

/** Subtitles as they are sent. */
export function renderCues(cues: readonly Cue[], format: 'srt' | 'vtt'): Rendered {
  if (format === 'srt') return { contentType: 'application/x-subrip; charset=utf-8', body: formatSrt(cues) };
  return { contentType: 'text/vtt; charset=utf-8', body: formatVtt(cues) };
}

/** The whole text. */
export function textOf(segments: readonly Segment[]): string {
  return segments.reduce((text, segment) => text + separatorAfter(text, segment) + segment.text, '');
}

/** OpenAI's `logprobs`: the tokens' texts joined are the text as the recogniser wrote it. */
export function logprobsOf(segments: readonly Segment[]): ReturnType<typeof toOpenAiLogprobs> {
  let text = '';
  return segments.flatMap((segment) => {
    const separator = separatorAfter(text, segment);
    text += separator + segment.text;
    return toOpenAiLogprobs(segment.tokens ?? [], separator);
  });
}

/** Our addition: `warning`, where there is one. */
export function warningOf({ warning }: { readonly warning?: string | undefined }): { warning?: string } {
  return warning === undefined ? {} : { warning };
}

/** What stands between `text` and the segment that follows: a space, or nothing where its script has none. */
export function separatorAfter(text: string, segment: Segment): string {
  return text === '' || !startsSpaced(segment.text) ? '' : ' ';
}

/** OpenAI's `usage` of models that are billed by time. */
export function usageOf({ durationMs }: Pick<RecordingTranscript, 'durationMs'>): {
  type: 'duration';
  seconds: number;
} {
  return { type: 'duration', seconds: Math.ceil(durationMs / 1000) };
}

/** The subtitles of a recording; with split channels each speaker has its own, merged by time. */
export function cuesOf(segments: readonly Segment[], options: FormatOptions): Cue[] {
  const channels = [...new Set(segments.map(({ channel }) => channel))];
  const cues = channels.flatMap((channel) => {
    const words = segments.filter((segment) => segment.channel === channel).flatMap((segment) => segment.words);
    const speaker = options.channels === 'split' ? speakerOf(channel) : null;
    return makeCues(words, { maxLineColumns: lineColumns(speaker, options), maxCueMs: options.max_cue_ms }, speaker);
  });
  return cues.toSorted((a, b) => a.startMs - b.startMs);
}

/** Columns of a line that are left for what `speaker` says. */
export function lineColumns(speaker: string | null, options: FormatOptions): number {
  return columnsBeside(speaker, options.response_format, options.max_line_chars);
}

function speakerOf(channel: number): string {
  return `channel ${channel + 1}`;
}

function json(value: unknown): Rendered {
  return { contentType: 'application/json; charset=utf-8', body: JSON.stringify(value) };
}

function verbose({ task, language, warning, durationMs, segments }: Outcome, options: FormatOptions): unknown {
  const wanted = new Set(options.timestamp_granularities);
  const isSplit = options.channels === 'split';
  return {
    task,
    language,
    ...warningOf({ warning }),
    duration: seconds(durationMs),
    text: textOf(segments),
    ...(wanted.has('segment') ? { segments: segments.map((segment, id) => verboseSegment(segment, id, isSplit)) } : {}),
    ...(wanted.has('word')
      ? { words: segments.flatMap((segment) => verboseWords(segment, isSplit)), word_times: wordTimesOf(segments) }
      : {}),
    usage: usageOf({ durationMs }),
  };
}

/** One estimate makes the whole an estimate. */
function wordTimesOf(segments: readonly Segment[]): Segment['wordTimes'] {
  return segments.every(({ wordTimes }) => wordTimes === 'aligned') ? 'aligned' : 'estimated';
}

/**
 * Clients' schemas require all of OpenAI's fields: what the recogniser has not got is neutral. `no_speech_prob` is, for
 * voice detection has left out what it takes for no speech.
 */
function verboseSegment(segment: Segment, id: number, isSplit: boolean): unknown {
  const { channel, text, startMs, endMs, avgLogprob, isCalibrated = true } = segment;
  const neutral = { tokens: [], temperature: 0, avg_logprob: avgLogprob ?? 0, compression_ratio: 1, no_speech_prob: 0 };
  return {
    id,
    seek: 0,
    start: seconds(startMs),
    end: seconds(endMs),
    text: ` ${text}`,
    ...neutral,
    ...(avgLogprob === undefined || !isCalibrated ? {} : { confidence: confidenceOf([avgLogprob]) }),
    ...(isSplit ? { channel: channel + 1 } : {}),
  };
}

function verboseWords({ channel, words }: Segment, isSplit: boolean): unknown[] {
  return words.map(({ text, startMs, endMs, confidence }) => ({
    word: text,
    start: seconds(startMs),
    end: seconds(endMs),
    ...(confidence === undefined ? {} : { confidence }),
    ...(isSplit ? { channel: channel + 1 } : {}),
  }));
}

function seconds(timeMs: number): number {
  return timeMs / 1000;
}

/** Transcripts for people, players, spreadsheets and programs. Pure: items in, text out. */
import { type Cue, formatSrt, formatTime, formatVtt } from '../../transcription/cue-formats.ts';
import { columnsBeside, retellCue } from '../../transcription/subtitles.ts';
import type { CallNames } from '../call-names.ts';
import { inOrder, type SpokenItem, type TranscriptItem } from './transcript.ts';

/**
 * `text`: a line for each item; `srt`: SubRip; `vtt`: WebVTT with a voice span for each speaker; `csv`: RFC 4180 with a
 * header; `jsonl`: an item as JSON on each line.
 */
export const TRANSCRIPT_TEXT_FORMATS = ['text', 'srt', 'vtt', 'csv', 'jsonl'] as const;
export type TranscriptTextFormat = (typeof TRANSCRIPT_TEXT_FORMATS)[number];

const HOUR_MS = 3_600_000;
/** Columns of a subtitle's line, as recordings have them by default (`maxLineChars`). */
const LINE_COLUMNS = 42;

/** Who speaks, as a transcript names them; null = it need not be said. */
export type NameSpeaker = (item: TranscriptItem) => string | null;

/**
 * Speakers by their names at that moment; those without one by their track, prompts of a queue as `queue`, and what is
 * said behind whoever speaks as `background`. `names` = those with which the call began.
 */
export function speakersOf(names: CallNames): NameSpeaker {
  return (item) => {
    if (item.kind !== 'caption') return names[item.track] ?? item.track;
    if (item.background) return 'background';
    return item.queued ? 'queue' : (item.name ?? names[item.track] ?? item.track);
  };
}

/**
 * `items` in the order of their start, written as `format`. A gap is `[missing]`, or `[held]` where the far side held
 * the call; what was spoken and not heard is marked. The text ends with a newline unless it is empty. Speakers are
 * named by their track unless `nameSpeaker` knows better. A long item is several subtitles, which share its time.
 */
export function formatTranscript(
  items: readonly TranscriptItem[],
  format: TranscriptTextFormat,
  nameSpeaker: NameSpeaker = (item) => item.track,
): string {
  const sorted = inOrder(items);
  switch (format) {
    case 'text':
      return sorted.map((item) => formatLine(item, nameSpeaker)).join('');
    case 'srt':
      return withoutLastBlankLine(formatSrt(toCues(sorted, nameSpeaker, 'srt')));
    case 'vtt':
      return withoutLastBlankLine(formatVtt(toCues(sorted, nameSpeaker, 'vtt')));
    case 'csv':
      return [CSV_COLUMNS.join(','), ...sorted.map((item) => csvRow(item, nameSpeaker))]
        .map((row) => `${row}\r\n`)
        .join('');
    case 'jsonl':
      return sorted.map((item) => `${JSON.stringify({ ...item, speaker: nameSpeaker(item) })}\n`).join('');
  }
}

function formatLine(item: TranscriptItem, nameSpeaker: NameSpeaker): string {
  const [start, end] = [formatShortTime(item.startMs), formatShortTime(item.endMs)];
  const text = item.kind === 'gap' ? `[${gapWord(item.reason)} ${start}–${end}]` : itemText(item);
  const speaker = nameSpeaker(item);
  return `[${start}] ${speaker === null ? '' : `${speaker}: `}${onOneLine(text)}\n`;
}

/** In the order of their start, for two may speak at a time. */
function toCues(items: readonly TranscriptItem[], nameSpeaker: NameSpeaker, format: 'srt' | 'vtt'): Cue[] {
  const cues = items.flatMap((item) => {
    const speaker = nameSpeaker(item);
    const cue = { ...timesOf(item), lines: [], speaker };
    return retellCue(cue, onOneLine(itemText(item)), columnsBeside(speaker, format, LINE_COLUMNS));
  });
  return cues.toSorted((a, b) => a.startMs - b.startMs);
}

/** WebVTT §4.1: a cue's end lies after its start. */
function timesOf({ startMs, endMs }: TranscriptItem): { readonly startMs: number; readonly endMs: number } {
  return { startMs, endMs: Math.max(endMs, startMs + 1) };
}

/** An item in words. */
function itemText(item: TranscriptItem): string {
  switch (item.kind) {
    case 'caption':
      return item.text;
    case 'spoken':
      return spokenText(item);
    case 'dtmf':
      return `[keys ${item.digits}]`;
    case 'gap':
      return `[${gapWord(item.reason)}]`;
  }
}

/** What people read in place of the words of a gap. */
function gapWord(reason: Extract<TranscriptItem, { kind: 'gap' }>['reason']): string {
  return reason === 'held' ? 'held' : 'missing';
}

/** Where redaction made two texts of one, only what was heard can be shown. */
function spokenText({ text, heardText, interrupted }: SpokenItem): string {
  if (!interrupted) return text;
  if (!text.startsWith(heardText)) return `${heardText} [cut off]`;
  const rest = text.slice(heardText.length).trim();
  return rest === '' ? text : `${heardText} [not heard: ${rest}]`;
}

/** What spreadsheets may take for a formula: they pass over what is not printed before it. */
const FORMULA = /^[\s\p{Cc}]*[=+\-@＝＋－＠]|^\p{Cc}/u;

const CSV_COLUMNS = [
  'startMs',
  'endMs',
  'kind',
  'track',
  'speaker',
  'text',
  'heardText',
  'interrupted',
  'utterance',
  'version',
  'confidence',
  'reason',
];

/** RFC 4180 §2: fields in quotes, quotes in them doubled, CR LF behind each row. */
function csvRow(item: TranscriptItem, nameSpeaker: NameSpeaker): string {
  const { kind, track, startMs, endMs } = item;
  const caption = kind === 'caption' ? item : null;
  const spoken = kind === 'spoken' ? item : null;
  return [
    startMs,
    endMs,
    kind,
    track,
    nameSpeaker(item),
    (caption ?? spoken)?.text ?? (kind === 'dtmf' ? item.digits : ''),
    spoken?.heardText,
    spoken?.interrupted,
    (caption ?? spoken)?.utterance,
    caption?.version,
    caption?.confidence,
    kind === 'gap' ? item.reason : '',
  ]
    .map((value) => csvField(value))
    .join(',');
}

/**
 * One field. What a spreadsheet would take for a formula gets an apostrophe in front
 * (https://owasp.org/www-community/attacks/CSV_Injection): anybody who calls chooses these words and names.
 */
export function csvField(value: string | number | boolean | null | undefined): string {
  if (typeof value !== 'string') return String(value ?? '');
  const safe = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
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

/** Calls with their transcripts, many in one file. Pure: calls in, text out. */
import type { CallTranscript } from '../../calls/call-transcripts.ts';
import type { CallView } from '../../calls/call-view.ts';
import { inOrder, type TranscriptItem } from '../../calls/feed/transcript.ts';
import { csvField, formatTranscript, type NameSpeaker, speakersOf } from '../../calls/feed/transcript-formats.ts';

/** `jsonl`: a call on each line; `csv`: a row for each item of each call; `text`: for people. */
export const EXPORT_FORMATS = ['jsonl', 'csv', 'text'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

const CSV_COLUMNS = [
  ...['callId', 'carrier', 'from', 'to', 'startedAt', 'endedAt', 'endReason', 'durationMs', 'agent', 'queue'],
  ...['outcome', 'tags', 'kind', 'track', 'speaker', 'startMs', 'endMs', 'text', 'heardText', 'reason'],
];

/** What stands before the first call. */
export function exportHead(format: ExportFormat): string {
  return format === 'csv' ? `${CSV_COLUMNS.join(',')}\r\n` : '';
}

/** One call. */
export function exportCall(call: CallView, { items, names }: CallTranscript, format: ExportFormat): string {
  const speakerOf = speakersOf(names);
  const sorted = inOrder(items);
  switch (format) {
    case 'jsonl':
      return `${JSON.stringify(asJson(call, sorted, speakerOf))}\n`;
    case 'csv':
      return (sorted.length === 0 ? [null] : sorted).map((item) => csvRow(call, item, speakerOf)).join('');
    case 'text':
      return `${headline(call)}\n${formatTranscript(items, 'text', speakerOf)}\n`;
  }
}

function asJson(call: CallView, items: readonly TranscriptItem[], speakerOf: NameSpeaker): object {
  return { ...call, transcript: items.map((item) => ({ ...item, speaker: speakerOf(item) })) };
}

function headline({ id, startedAt, from, to, names, durationMs, endReason, outcome }: CallView): string {
  const sides = [names.inbound ?? from ?? '?', names.outbound ?? to ?? '?'].join(' → ');
  const seconds = Math.round(durationMs / 1000);
  const facts = [sides, `${seconds} s`, endReason, outcome].filter((fact) => fact !== null);
  return `# ${startedAt} ${id}: ${facts.join(', ').replace(/\s+/g, ' ')}`;
}

function csvRow(call: CallView, item: TranscriptItem | null, speakerOf: NameSpeaker): string {
  const { id, carrier, from, to, startedAt, endedAt, endReason, durationMs, agent, queue, outcome, tags } = call;
  const fields = [id, carrier, from, to, startedAt, endedAt, endReason, durationMs, agent, queue, outcome];
  const itemFields = item === null ? Array<null>(8).fill(null) : fieldsOf(item, speakerOf);
  return `${[...fields, tags.join(' '), ...itemFields].map((value) => csvField(value)).join(',')}\r\n`;
}

function fieldsOf(item: TranscriptItem, speakerOf: NameSpeaker): (string | number | null)[] {
  const { kind, track, startMs, endMs } = item;
  return [
    kind,
    track,
    speakerOf(item),
    startMs,
    endMs,
    kind === 'caption' || kind === 'spoken' ? item.text : kind === 'dtmf' ? item.digits : null,
    kind === 'spoken' ? item.heardText : null,
    kind === 'gap' ? item.reason : null,
  ];
}

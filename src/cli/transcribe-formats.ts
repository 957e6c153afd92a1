/** A recording as the command line writes it. */
import type { FinalCaption } from '../calls/feed/transcript.ts';
import { formatTranscript } from '../calls/feed/transcript-formats.ts';
import { languageName } from '../foundation/languages.ts';
import { render } from '../http/transcriptions/formats.ts';
import type { ChannelMode } from '../recordings/decode-messages.ts';
import type { RecordingTranscript } from '../recordings/transcribe.ts';

/**
 * `text`: one line with its time for each caption. The others are as the HTTP API has them, except that `json` has
 * times.
 */
export const FILE_FORMATS = ['json', 'text', 'srt', 'vtt', 'verbose_json'] as const;
export type FileFormat = (typeof FILE_FORMATS)[number];

/** What the file of a transcript is called after the recording's own name. */
export const FILE_ENDINGS: Readonly<Record<FileFormat, string>> = Object.freeze({
  json: '.json',
  text: '.txt',
  srt: '.srt',
  vtt: '.vtt',
  verbose_json: '.verbose.json',
});

const TRACKS = ['inbound', 'outbound'] as const;
const MAX_LINE_CHARS = 42;
const MAX_CUE_MS = 7000;

/** `recording`, which a person calls `file`. Ends with a newline unless there is nothing to say. */
export function writeRecording(
  recording: RecordingTranscript,
  options: { file: string; format: FileFormat; channels: ChannelMode },
): string {
  const { file, format, channels } = options;
  if (format === 'json') return `${JSON.stringify(captionsOf(recording, file, channels))}\n`;
  if (format === 'text') return writeText(recording, channels);
  const { body } = render(
    { ...recording, task: 'transcribe', language: languageName(recording.spokenLanguage ?? '') },
    {
      response_format: format,
      channels,
      max_line_chars: MAX_LINE_CHARS,
      max_cue_ms: MAX_CUE_MS,
      timestamp_granularities: ['word', 'segment'],
    },
  );
  return format === 'verbose_json' ? `${body}\n` : body;
}

function captionsOf({ durationMs, segments }: RecordingTranscript, file: string, channels: ChannelMode): unknown {
  const captions = segments.map(({ channel, text, startMs, endMs }) => ({
    ...(channels === 'split' ? { channel: channel + 1 } : {}),
    text,
    startMs,
    endMs,
  }));
  return { file, durationMs, captions };
}

function writeText({ segments }: RecordingTranscript, channels: ChannelMode): string {
  const finals = segments.map(
    ({ channel, text, startMs, endMs }, index): FinalCaption => ({
      kind: 'caption',
      track: TRACKS[channel] ?? 'inbound',
      utterance: index + 1,
      text,
      startMs,
      endMs,
    }),
  );
  return formatTranscript(finals, 'text', ({ track }) =>
    channels === 'split' ? `channel ${TRACKS.indexOf(track) + 1}` : null,
  );
}

/** Cues as SubRip and WebVTT. */

/** One subtitle; `startMs` < `endMs`. */
export interface Cue {
  readonly startMs: number;
  readonly endMs: number;
  readonly lines: readonly string[];
  /** The speaker's name; null = none is shown. */
  readonly speaker: string | null;
}

const HOUR_MS = 3_600_000;

/** Cues in the order of their start, as SubRip (`srt`). A blank line ends each. */
export function formatSrt(cues: readonly Cue[]): string {
  return cues
    .map((cue, index) => `${index + 1}\n${times(cue, ',')}\n${speakerPrefix(cue)}${cue.lines.join('\n')}\n\n`)
    .join('');
}

/**
 * Cues in the order of their start, as WebVTT (W3C WebVTT §4); speakers become voice spans. A blank line ends each
 * cue.
 */
export function formatVtt(cues: readonly Cue[]): string {
  return `WEBVTT\n\n${cues.map((cue) => `${times(cue, '.')}\n${vttText(cue)}\n\n`).join('')}`;
}

function speakerPrefix({ speaker }: Cue): string {
  return speaker === null ? '' : `${speaker}: `;
}

function vttText({ lines, speaker }: Cue): string {
  const text = lines.map((line) => escapeVtt(line)).join('\n');
  return speaker === null ? text : `<v ${escapeVtt(speaker)}>${text}`;
}

/** WebVTT §4.2.2: neither text nor names may hold `&` or `<` unescaped, nor `-->` anywhere. */
function escapeVtt(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function times({ startMs, endMs }: Cue, point: ',' | '.'): string {
  return `${formatTime(startMs, point)} --> ${formatTime(endMs, point)}`;
}

/** `hh:mm:ss` and milliseconds after `point`. */
export function formatTime(timeMs: number, point: ',' | '.'): string {
  const wholeMs = Math.max(Math.round(timeMs), 0);
  const hours = Math.floor(wholeMs / HOUR_MS);
  const minutes = Math.floor(wholeMs / 60_000) % 60;
  const seconds = Math.floor(wholeMs / 1000) % 60;
  return `${pad(hours, 2)}:${pad(minutes, 2)}:${pad(seconds, 2)}${point}${pad(wholeMs % 1000, 3)}`;
}

function pad(value: number, digits: number): string {
  return String(value).padStart(digits, '0');
}

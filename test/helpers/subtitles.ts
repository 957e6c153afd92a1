/** Reads subtitles with a parser that others wrote. */
import { parse } from '@plussub/srt-vtt-parser';

/** A cue as a player would show it; times in ms. */
export interface ReadCue {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** The cues of a SubRip or WebVTT file. */
export function readSubtitles(file: string): ReadCue[] {
  const { entries } = parse(file) as { entries: ReadCue[] };
  return entries.map(({ from, to, text }) => ({ from, to, text }));
}

/** When the words of a clip were said, in the recording that it was cut from. */
import { ENGINE_RATE_HZ, type SpokenWord } from '../../engine/contract.ts';
import { samplesToMs } from '../foundation/units.ts';
import { alignWordTimes } from './aligned-word-times.ts';
import { estimateWordTimes, type TimedWord } from './estimated-word-times.ts';
import type { RecordedClip, Span } from './speech-clips.ts';

/** Words with their times in ms of the recording. */
interface ClipWords {
  readonly words: readonly TimedWord[];
  /** Whether the recogniser said when the words were spoken, or their times are an estimate. */
  readonly wordTimes: 'aligned' | 'estimated';
}

/** The words of `text`; `spoken` is when the recogniser says that they were said in the clip, if it does. */
export function timeClipWords(
  text: string,
  spoken: readonly SpokenWord[] | undefined,
  { spliced, parts }: Pick<RecordedClip, 'parts' | 'spliced'>,
): ClipWords {
  const aligned = spoken === undefined ? null : alignWordTimes(text, spoken, spliced);
  const words = (aligned ?? estimateWordTimes(text, spliced)).map((word) => ({
    ...word,
    startMs: inRecording(word.startMs, parts, 'start'),
    endMs: inRecording(word.endMs, parts, 'end'),
  }));
  return { words, wordTimes: aligned === null ? 'estimated' : 'aligned' };
}

/** Where `timeMs` of the parts one behind the other lies; between two, a start is the later's, an end the earlier's. */
function inRecording(timeMs: number, parts: readonly Span[], bound: 'start' | 'end'): number {
  let beforeMs = 0;
  let last = 0;
  for (const { from, to } of parts) {
    const lengthMs = toMs(to - from);
    const intoMs = timeMs - beforeMs;
    if (bound === 'start' ? intoMs < lengthMs : intoMs <= lengthMs) return Math.round(toMs(from) + intoMs);
    beforeMs += lengthMs;
    last = to;
  }
  return Math.round(toMs(last));
}

function toMs(samples: number): number {
  return samplesToMs(samples, ENGINE_RATE_HZ);
}

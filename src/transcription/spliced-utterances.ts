/** Several utterances as one stretch of sound, and one reading of it as their texts. */
import { ENGINE_RATE_HZ, type SpokenWord } from '../../engine/contract.ts';
import { joinSamples } from '../audio/mix.ts';
import { samplesToMs } from '../foundation/units.ts';
import { alignWordTimes } from './aligned-word-times.ts';
import type { UtteranceCaptions } from './captions.ts';
import { estimateWordTimes, type TimedWord } from './estimated-word-times.ts';
import type { SpeechClip } from './speech-clips.ts';
import { alignedLength, joinWords, splitWords } from './words.ts';

/** An utterance that is over. Sample numbers count from the start of the track at 16 kHz. */
export interface EndedUtterance {
  /** With the pre-roll and the post-roll. */
  readonly samples: Int16Array;
  /** Where `samples` begins. */
  readonly from: number;
  readonly speechFrom: number;
  readonly speechTo: number;
  readonly captions: Pick<
    UtteranceCaptions,
    'isFinal' | 'isForeign' | 'lateFinal' | 'latestText' | 'revise' | 'utterance'
  >;
}

/**
 * `utterances` one behind the other, without the pauses between them: `speech` has one span for each. Sample numbers
 * count from the beginning of the stretch.
 */
export function splice(utterances: readonly EndedUtterance[]): SpeechClip {
  const samples = joinSamples(utterances.map((utterance) => utterance.samples));
  let at = 0;
  const speech = utterances.map(({ from, speechFrom, speechTo, samples: { length } }) => {
    const span = { from: at + speechFrom - from, to: at + Math.min(speechTo - from, length) };
    at += length;
    return span;
  });
  return { from: 0, to: samples.length, samples, speech };
}

/**
 * Divides one reading of spliced utterances among them: a word belongs to the utterance in whose stretch its middle
 * lies. Words of an utterance that cannot have any go to the one before it, or after it where none is before. Case and
 * punctuation stay those of the one reading. Without times of the recogniser's own, they are estimated.
 * @param canHaveWords of each utterance
 * @returns one text for each utterance
 */
export function splitReading(
  reading: { readonly text: string; readonly words: readonly SpokenWord[] | undefined },
  spliced: SpeechClip,
  canHaveWords: readonly boolean[],
): string[] {
  const { speech } = spliced;
  const first = canHaveWords.indexOf(true);
  const texts = speech.map(() => '');
  if (first === -1) return texts;
  const endsMs = speech.map(({ to }, index) => {
    const next = speech[index + 1];
    return next === undefined ? Number.POSITIVE_INFINITY : samplesToMs((to + next.from) / 2, ENGINE_RATE_HZ);
  });
  for (const word of timeWords(reading, spliced)) {
    const said = endsMs.findIndex((endMs) => (word.startMs + word.endMs) / 2 < endMs);
    const at = canHaveWords.findLastIndex((can, index) => can && index <= said);
    const text = Math.max(at, first);
    texts[text] = joinWords(texts[text] ?? '', [word]);
  }
  return texts;
}

/**
 * `texts` of which those that had no words until now have neither words of the final before them, which may have been
 * told and would be there twice, nor lose words to it. Times that are not exact do both.
 */
export function keepTold(
  texts: readonly string[],
  group: readonly EndedUtterance[],
  canHaveWords: readonly boolean[],
): string[] {
  const kept = [...texts];
  group.forEach(({ captions }, index) => {
    const told = splitWords(group[index - 1]?.captions.latestText ?? '');
    if (captions.latestText !== '' || canHaveWords[index] !== true || told.length === 0) return;
    const before = splitWords(kept[index - 1] ?? '');
    const words = [...before, ...splitWords(kept[index] ?? '')];
    const length = alignedLength(told, words, before.length);
    kept[index - 1] = joinWords('', words.slice(0, length));
    kept[index] = joinWords('', words.slice(length));
  });
  return kept;
}

/** When the words of a reading of `spliced` were said: as the recogniser says, or else estimated. */
export function timeWords(
  { text, words }: { readonly text: string; readonly words: readonly SpokenWord[] | undefined },
  spliced: SpeechClip,
): TimedWord[] {
  const aligned = words === undefined ? null : alignWordTimes(text, words, spliced);
  return aligned ?? estimateWordTimes(text, spliced);
}

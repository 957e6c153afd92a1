/** Several utterances as one stretch of sound, and one reading of it as their texts. */
import { ENGINE_RATE_HZ, type SpokenWord } from '../../engine/contract.ts';
import { joinSamples } from '../audio/mix.ts';
import { samplesToMs } from '../foundation/units.ts';
import { alignWordTimes } from './aligned-word-times.ts';
import type { UtteranceCaptions } from './captions.ts';
import { estimateWordTimes, type TimedWord } from './estimated-word-times.ts';
import type { SpeechClip } from './speech-clips.ts';
import { joinWords } from './words.ts';

/** An utterance that is over. Sample numbers count from the start of the track at 16 kHz. */
export interface EndedUtterance {
  /** With the pre-roll and the post-roll. */
  readonly samples: Int16Array;
  /** Where `samples` begins. */
  readonly from: number;
  readonly speechFrom: number;
  readonly speechTo: number;
  readonly captions: Pick<UtteranceCaptions, 'isFinal' | 'latestText' | 'revise' | 'utterance'>;
}

/** Utterances one behind the other, without the pauses between them: `speech` has one span for each. */
interface Spliced extends SpeechClip {
  /** Whether each utterance has a caption, so that it can have words. */
  readonly isShown: readonly boolean[];
}

/** `utterances` as one stretch; its sample numbers count from its own beginning. */
export function splice(utterances: readonly EndedUtterance[]): Spliced {
  const samples = joinSamples(utterances.map((utterance) => utterance.samples));
  let at = 0;
  const speech = utterances.map(({ from, speechFrom, speechTo, samples: { length } }) => {
    const span = { from: at + speechFrom - from, to: at + Math.min(speechTo - from, length) };
    at += length;
    return span;
  });
  return { from: 0, to: samples.length, samples, speech, isShown: utterances.map(({ captions }) => captions.isFinal) };
}

/**
 * Divides one reading of spliced utterances among them: a word belongs to the utterance in whose stretch its middle
 * lies. Words of an utterance that has no caption go to the one before it, or after it where none is before. Case and
 * punctuation stay those of the one reading. Without times of the recogniser's own, they are estimated.
 * @returns one text for each utterance
 */
export function splitReading(
  reading: { readonly text: string; readonly words: readonly SpokenWord[] | undefined },
  spliced: Spliced,
): string[] {
  const { speech, isShown } = spliced;
  const firstShown = isShown.indexOf(true);
  const texts = speech.map(() => '');
  if (firstShown === -1) return texts;
  const endsMs = speech.map(({ to }, index) => {
    const next = speech[index + 1];
    return next === undefined ? Number.POSITIVE_INFINITY : samplesToMs((to + next.from) / 2, ENGINE_RATE_HZ);
  });
  for (const word of timedWords(reading, spliced)) {
    const said = endsMs.findIndex((endMs) => (word.startMs + word.endMs) / 2 < endMs);
    const at = isShown.findLastIndex((shown, index) => shown && index <= said);
    const text = Math.max(at, firstShown);
    texts[text] = joinWords(texts[text] ?? '', [word]);
  }
  return texts;
}

function timedWords(
  { text, words }: { readonly text: string; readonly words: readonly SpokenWord[] | undefined },
  spliced: Spliced,
): TimedWord[] {
  const aligned = words === undefined ? null : alignWordTimes(text, words, spliced);
  return aligned ?? estimateWordTimes(text, spliced);
}

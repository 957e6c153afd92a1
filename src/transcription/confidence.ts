/**
 * How sure a text is, from the recogniser's probabilities. The constants are fitted by `npm run bench -- confidence`,
 * which also says on what speech and how well they hold.
 */

import type { SpokenWord } from '../../engine/contract.ts';
import type { Transcript } from '../engine-client/engine.ts';

type Probabilities = Pick<Transcript, 'isCalibrated' | 'logprobs' | 'words'>;

/** A logistic curve over a natural logarithm. */
interface Curve {
  readonly offset: number;
  readonly slope: number;
}

/** From the mean logarithm of a text's tokens to the share of its words that are right. */
const OF_TEXT: Curve = { offset: 3.4, slope: 5.7 };
/** From the logarithm of a word's probability to the probability that it is right. */
const OF_WORD: Curve = { offset: 3, slope: 2.5 };

/** The probabilities that confidence can be told from: none where the curves were not fitted to the recogniser. */
export function calibratedOf({ isCalibrated = true, logprobs, words }: Probabilities): {
  readonly logprobs: Float32Array | null;
  readonly words: readonly SpokenWord[] | undefined;
} {
  if (isCalibrated) return { logprobs, words };
  return { logprobs: null, words: words?.map(({ probability: _unknown, ...word }) => word) };
}

/** Of the words of finals below it two thirds are wrong. */
export const LOW_CONFIDENCE = 0.5;

/** The mean of logarithms of probabilities; null when there are none. */
export function meanLogprob(logprobs: Float32Array | readonly number[] | null): number | null {
  if (logprobs === null || logprobs.length === 0) return null;
  let sum = 0;
  for (const logprob of logprobs) sum += logprob;
  return sum / logprobs.length;
}

/**
 * The expected share, from 0 to 1, of a text's words that are right; null when the recogniser does not say how probable
 * its tokens were.
 */
export function confidenceOf(logprobs: Float32Array | readonly number[] | null): number | null {
  const mean = meanLogprob(logprobs);
  return mean === null ? null : at(OF_TEXT, mean);
}

/** The probability, from 0 to 1, that a word is right to which the recogniser itself gives `probability`. */
export function wordConfidence(probability: number): number {
  return at(OF_WORD, Math.log(Math.max(probability, Number.MIN_VALUE)));
}

function at({ offset, slope }: Curve, logarithm: number): number {
  const share = 1 / (1 + Math.exp(-(offset + slope * logarithm)));
  return Math.round(share * 1000) / 1000;
}

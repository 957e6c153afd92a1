/**
 * Pretend models for tests: their results follow from the audio alone. Speech is whatever is loud, and a pure tone
 * says a word: each 200 ms of it the word of its frequency band, 400 Hz `alpha`, 600 Hz `bravo` and so on in steps of
 * 200 Hz.
 */
import { type DetectTrack, ENGINE_RATE_HZ, VAD_WINDOW_SAMPLES } from '../contract.ts';
import type { Steps } from '../scheduler.ts';
import { runTogether, type SharedRun } from '../shared-runs.ts';
import type { Asr, DetectedTrack, Recognition, TurnDetector, Vad } from './model.ts';

const WORDS = [
  'alpha',
  'bravo',
  'charlie',
  'delta',
  'echo',
  'foxtrot',
  'golf',
  'hotel',
  'india',
  'juliet',
  'kilo',
  'lima',
];
const FIRST_BAND_HZ = 400;
const BAND_HZ = 200;
const SLICE_SAMPLES = (200 * ENGINE_RATE_HZ) / 1000;
/** A last slice shorter than this says nothing. */
const SLICE_MIN_SAMPLES = (150 * ENGINE_RATE_HZ) / 1000;

/** Root mean square, in 16-bit steps, from which on sound is speech: -36 dB below full scale. */
const LOUD = 500;
const LOUD_PROBABILITY = 0.95;
const QUIET_PROBABILITY = 0.02;

/**
 * A recogniser of pure tones. Slices are counted from the first loud sample, so that leading silence changes nothing
 * and a longer window of the same tones begins with the same words. One run per slice, or per slices of at most
 * `batchMax` jobs; `onRun` is told of how many. The draft is not needed.
 */
export function createToneAsr(batchMax: number, onRun: (slices: number) => void = () => undefined): Asr {
  const bands: SharedRun<Int16Array, number | null> = {
    batchMax,
    async run(slices) {
      onRun(slices.length);
      return slices.map((slice) => (loudness(slice) >= LOUD ? bandOf(slice) : null));
    },
  };
  return Object.freeze({
    name: 'tone',
    provider: 'cpu',
    batchMax,
    vocabularySize: WORDS.length,
    async *transcribe(samples: Int16Array): Steps<Recognition> {
      const tokens: number[] = [];
      const start = samples.findIndex((sample) => Math.abs(sample) >= LOUD);
      for (let from = Math.max(start, 0); from + SLICE_MIN_SAMPLES <= samples.length; from += SLICE_SAMPLES) {
        const token = yield* runTogether(bands, samples.subarray(from, from + SLICE_SAMPLES));
        if (token !== null) tokens.push(token);
      }
      return { text: tokens.map((token) => WORDS[token]).join(' '), tokens, logprobs: null, looped: false };
    },
    warmUp: () => Promise.resolve(),
  });
}

/** {@link createToneAsr} as on a CPU. */
export const toneAsr: Asr = createToneAsr(1);

/** A detector of loudness; its state is empty. */
export const toneVad: Vad = Object.freeze({
  name: 'tone',
  stateLength: 0,
  async *detect(tracks: readonly DetectTrack[]): Steps<DetectedTrack[]> {
    const detected: DetectedTrack[] = [];
    for (const { samples } of tracks) {
      detected.push({ probabilities: detectLoudness(samples), state: new Float32Array(0) });
      yield;
    }
    return detected;
  },
});

/**
 * A turn detector that goes by the tone that was heard last: it is the less probable that the turn is over the lower it
 * is, from 0 for `alpha` (400 Hz) to 1 for `lima` (2600 Hz) in equal steps. Where nothing was heard the turn is over.
 */
export const toneTurnDetector: TurnDetector = Object.freeze({
  name: 'tone',
  async *decide(samples: Int16Array): Steps<number> {
    const end = samples.findLastIndex((sample) => Math.abs(sample) >= LOUD) + 1;
    return end === 0 ? 1 : bandOf(samples.subarray(Math.max(end - SLICE_SAMPLES, 0), end)) / (WORDS.length - 1);
  },
});

function detectLoudness(samples: Int16Array): Float32Array {
  const probabilities = new Float32Array(samples.length / VAD_WINDOW_SAMPLES);
  return probabilities.map((_, index) => {
    const window = samples.subarray(index * VAD_WINDOW_SAMPLES, (index + 1) * VAD_WINDOW_SAMPLES);
    return loudness(window) >= LOUD ? LOUD_PROBABILITY : QUIET_PROBABILITY;
  });
}

/** Root mean square in 16-bit steps. */
function loudness(samples: Int16Array): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
}

/** The frequency band of a slice; frequencies beyond the ends of the list belong to its ends. */
function bandOf(slice: Int16Array): number {
  return Math.min(Math.max(Math.round((frequencyOf(slice) - FIRST_BAND_HZ) / BAND_HZ), 0), WORDS.length - 1);
}

/**
 * Upward zero crossings per second between the first and the last of them; each comes out of a loud trough, so noise
 * makes none.
 */
function frequencyOf(slice: Int16Array): number {
  const crossings: number[] = [];
  let isLow = false;
  for (const [index, sample] of slice.entries()) {
    if (isLow && sample >= 0) crossings.push(index);
    isLow = sample <= -LOUD || (isLow && sample < 0);
  }
  const [first = 0, last = 0] = [crossings[0], crossings.at(-1)];
  return last > first ? ((crossings.length - 1) * ENGINE_RATE_HZ) / (last - first) : 0;
}

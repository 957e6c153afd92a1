import { ENGINE_RATE_HZ } from '../../engine/contract.ts';
import { msToSamples, samplesToMs } from '../foundation/units.ts';
import type { Span, SpeechClip } from './speech-clips.ts';
import { splitWords } from './words.ts';

/** A word and when it was spoken, in ms of the recording. */
export interface TimedWord {
  readonly text: string;
  /** Whether a space stands before it when it is not the first. */
  readonly spaced: boolean;
  readonly startMs: number;
  readonly endMs: number;
  /** The probability, from 0 to 1, that it is right; absent where that cannot be told. */
  readonly confidence?: number;
}

const STEP_MS = 10;
/** How far a boundary between two words may be moved to lie in a pause. */
const SNAP_MS = 250;
/** Of a step's weight: the share that every step of speech has, however quiet. Consonants are quiet, too. */
const FLOOR_SHARE = 0.35;
/** A word takes the time of its letters and of about this many more: short words are spoken slower. */
const WORD_EXTRA_CHARS = 1.5;

/**
 * When each word of `text` was said, as far as that is known without the recogniser (see aligned-word-times.ts): the
 * words share the speech of the clip by their letters, loud parts counting more than quiet ones, and boundaries that
 * fall near a pause lie in it. Texts without spaces are split by character. In order and without overlap; empty for an
 * empty text.
 */
export function estimateWordTimes(text: string, clip: SpeechClip): TimedWord[] {
  const words = splitWords(text);
  const weights = words.map(({ key }) => Array.from(key).length + WORD_EXTRA_CHARS);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const clock = new SpeechClock(clip);
  let share = 0;
  let from = clock.start;
  return words.map(({ text: word, spaced }, index) => {
    share += (weights[index] ?? 0) / total;
    const boundary = index + 1 === words.length ? { end: clock.end, next: clock.end } : clock.boundaryAt(share, from);
    const timed = { text: word, spaced, startMs: toMs(from), endMs: toMs(boundary.end) };
    from = boundary.next;
    return timed;
  });
}

/**
 * The words of `text` with times between `startMs` and `endMs`, each with the time of its letters: where there is no
 * sound to look at.
 */
export function spreadWords(text: string, startMs: number, endMs: number): TimedWord[] {
  const words = splitWords(text);
  const weights = words.map(({ key }) => Array.from(key).length + WORD_EXTRA_CHARS);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let said = 0;
  const timeOf = (weight: number): number => Math.round(startMs + ((endMs - startMs) * weight) / total);
  return words.map(({ text: word, spaced }, index) => {
    const from = timeOf(said);
    said += weights[index] ?? 0;
    return { text: word, spaced, startMs: from, endMs: timeOf(said) };
  });
}

function toMs(sample: number): number {
  return Math.round(samplesToMs(sample, ENGINE_RATE_HZ));
}

/** Turns shares of what is said (0–1) into sample numbers. */
class SpeechClock {
  readonly #speech: readonly Span[];
  /** For each 10 ms of speech: where it begins, and the share of all that has been said by its end. */
  readonly #steps: { readonly from: number; readonly to: number; readonly said: number }[] = [];

  constructor(clip: SpeechClip) {
    this.#speech = clip.speech;
    const raw = clip.speech.flatMap((span) => loudSteps(clip, span));
    const mean = raw.reduce((sum, step) => sum + step.loudness, 0) / Math.max(raw.length, 1);
    let said = 0;
    const weights = raw.map(({ loudness }) => FLOOR_SHARE + (1 - FLOOR_SHARE) * (mean === 0 ? 1 : loudness / mean));
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    raw.forEach(({ from, to }, index) => {
      said += (weights[index] ?? 0) / total;
      this.#steps.push({ from, to, said });
    });
  }

  get start(): number {
    return this.#speech[0]?.from ?? 0;
  }

  get end(): number {
    return this.#speech.at(-1)?.to ?? 0;
  }

  /** Where a word ends and the next one begins when `share` has been said; not before `earliest`. */
  boundaryAt(share: number, earliest: number): { readonly end: number; readonly next: number } {
    const at = Math.max(this.#steps.find(({ said }) => said >= share)?.to ?? this.end, earliest);
    const reach = msToSamples(SNAP_MS, ENGINE_RATE_HZ);
    for (const [index, span] of this.#speech.entries()) {
      const next = this.#speech[index + 1];
      if (next === undefined || span.to <= earliest) continue;
      if (at > span.to - reach && at < next.from + reach) return { end: span.to, next: next.from };
    }
    return { end: at, next: at };
  }
}

function loudSteps(clip: SpeechClip, span: Span): { from: number; to: number; loudness: number }[] {
  const size = msToSamples(STEP_MS, ENGINE_RATE_HZ);
  const steps = [];
  for (let from = span.from; from < span.to; from += size) {
    const to = Math.min(from + size, span.to);
    let sum = 0;
    for (let at = from; at < to; at++) sum += Math.abs(clip.samples[at - clip.from] ?? 0);
    steps.push({ from, to, loudness: Math.sqrt(sum / (to - from)) });
  }
  return steps;
}

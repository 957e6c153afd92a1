/** Operations on the samples of synthesizers. */
import { endianness } from 'node:os';

/** Louder than this is sound: the voices' own silence hums at up to 170. */
const AUDIBLE = 200;

/** Kept in front of the first audible sample: soft consonants begin below {@link AUDIBLE}. */
const ONSET_MS = 30;

const FULL_SCALE = 32_767;

/** 16-bit little-endian samples in `bytes`, as numbers; half a sample at the end is dropped. */
export function readSamples(bytes: Uint8Array): Int16Array {
  // A copy: the bytes may lie at an odd place in a larger buffer.
  const aligned = Uint8Array.from(bytes.subarray(0, bytes.length - (bytes.length % 2)));
  if (endianness() === 'BE') Buffer.from(aligned.buffer).swap16();
  return new Int16Array(aligned.buffer);
}

/** `samples` times `gain`; what would be too loud is rounded off as by {@link toSamples}. */
export function amplify(samples: Int16Array, gain: number): Int16Array {
  return samples.map((sample) => limit((sample / FULL_SCALE) * gain));
}

/**
 * The audible part of `samples`, followed by `pauseMs` of silence. The voices begin with 140 to 320 ms of silence, for
 * which a caller would wait, and the silence at the end differs from voice to voice. Empty when nothing is audible.
 */
export function trimSilence(samples: Int16Array, { rateHz, pauseMs }: { rateHz: number; pauseMs: number }): Int16Array {
  const first = samples.findIndex((sample) => Math.abs(sample) > AUDIBLE);
  if (first === -1) return new Int16Array(0);
  const last = samples.findLastIndex((sample) => Math.abs(sample) > AUDIBLE);
  const onsetSamples = Math.round((ONSET_MS * rateHz) / 1000);
  const speech = samples.subarray(Math.max(first - onsetSamples, 0), Math.min(last + 1 + onsetSamples, samples.length));
  const trimmed = new Int16Array(speech.length + Math.round((pauseMs * rateHz) / 1000));
  trimmed.set(speech);
  return trimmed;
}

/**
 * Does what {@link trimSilence} does with samples that come in stretches: gives them as soon as it is certain that they
 * are not the silence at the end.
 */
export class SilenceTrimmer {
  readonly #rateHz: number;
  readonly #onsetSamples: number;
  /** What may be silence at an end. */
  #held: Int16Array = new Int16Array(0);
  #isBegun = false;
  /** How much of what is held belongs to the speech in any case. */
  #owed = 0;

  constructor(rateHz: number) {
    this.#rateHz = rateHz;
    this.#onsetSamples = Math.round((ONSET_MS * rateHz) / 1000);
  }

  /** The samples that can be given now that `samples` have come. */
  push(samples: Int16Array): Int16Array {
    const all = joinSamples([this.#held, samples]);
    const last = all.findLastIndex((sample) => Math.abs(sample) > AUDIBLE);
    if (last === -1) {
      this.#held = this.#isBegun ? all : all.subarray(Math.max(all.length - this.#onsetSamples, 0));
      return new Int16Array(0);
    }
    const first = this.#isBegun ? 0 : all.findIndex((sample) => Math.abs(sample) > AUDIBLE) - this.#onsetSamples;
    const end = Math.min(last + 1 + this.#onsetSamples, all.length);
    this.#owed = last + 1 + this.#onsetSamples - end;
    this.#isBegun = true;
    this.#held = all.subarray(end);
    return all.subarray(Math.max(first, 0), end);
  }

  /** The rest, with `pauseMs` of silence behind it; empty when nothing was audible. */
  end(pauseMs: number): Int16Array {
    if (!this.#isBegun) return new Int16Array(0);
    const pause = new Int16Array(Math.round((pauseMs * this.#rateHz) / 1000));
    return joinSamples([this.#held.subarray(0, this.#owed), pause]);
  }
}

/** Up to here samples stay as they are; beyond they come nearer and nearer to the ceiling, 1 dB below full scale. */
const KNEE = 0.7;
const CEILING = 0.89;

/**
 * Samples of full scale 1 as 16 bits, times `gain`. What would be too loud is rounded off and not cut, sample by
 * sample, so that it does not matter where a stretch ends.
 */
export function toSamples(floats: Float32Array | Float64Array, gain: number): Int16Array {
  const samples = new Int16Array(floats.length);
  for (let i = 0; i < floats.length; i++) samples[i] = limit((floats[i] as number) * gain);
  return samples;
}

/** A sample of full scale 1 as 16 bits. */
function limit(value: number): number {
  const size = Math.abs(value);
  if (size <= KNEE) return Math.round(value * FULL_SCALE);
  const kept = KNEE + (CEILING - KNEE) * Math.tanh((size - KNEE) / (CEILING - KNEE));
  return Math.round(Math.sign(value) * kept * FULL_SCALE);
}

/** One stretch after another. */
export function joinSamples(stretches: readonly Int16Array[]): Int16Array {
  const joined = new Int16Array(stretches.reduce((sum, stretch) => sum + stretch.length, 0));
  let at = 0;
  for (const stretch of stretches) {
    joined.set(stretch, at);
    at += stretch.length;
  }
  return joined;
}

/** Ms of silence after `text` at speed 1: people breathe between sentences and hardly pause inside one. */
export function pauseAfter(text: string): number {
  if (/[.?!…]["'”’)\]\s]*$/.test(text)) return 250;
  return /[,;:–—-]["'”’)\]\s]*$/.test(text) ? 130 : 60;
}

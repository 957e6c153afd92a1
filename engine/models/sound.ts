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

/** `samples` times `gain`, without overflow. */
export function amplify(samples: Int16Array, gain: number): Int16Array {
  return samples.map((sample) => Math.max(-FULL_SCALE, Math.min(FULL_SCALE, Math.round(sample * gain))));
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

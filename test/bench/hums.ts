/**
 * Hums of a listener, "mm" and "mm-hm": a nasal murmur, since voices that read texts spell them or say other words.
 * Pulses of a voice through the resonances of a closed mouth, after G. Fant, "Acoustic Theory of Speech Production".
 */
import { gaussian, LINE_RATE_HZ } from '../helpers/signals.ts';

/** Hz, width in Hz, height. */
const RESONANCES = [
  [260, 110, 1],
  [1000, 200, 0.12],
  [2200, 300, 0.05],
] as const;
const HIGHEST_HZ = 3400;
const LEVEL = 4500;
const RISE_MS = 30;
const FALL_MS = 50;
/** The breath in "mm-hm", in shares of its length. */
const BREATH_FROM = 0.42;
const BREATH_TO = 0.58;

/** One hum; its pitch goes evenly from one frequency to another. */
export interface Hum {
  readonly text: 'Mm.' | 'Mm-hm.';
  readonly durationMs: number;
  readonly fromHz: number;
  readonly toHz: number;
}

const PITCHES = [
  [110, 95],
  [120, 150],
  [200, 170],
  [190, 240],
] as const;

/** Short and long ones of low and high voices. */
export const HUMS: readonly Hum[] = (
  [
    ['Mm.', 250],
    ['Mm.', 350],
    ['Mm.', 450],
    ['Mm-hm.', 450],
    ['Mm-hm.', 600],
  ] as const
).flatMap(([text, durationMs]) => PITCHES.map(([fromHz, toHz]): Hum => ({ text, durationMs, fromHz, toHz })));

/** The sound of a hum, 8 kHz. */
export function synthesizeHum({ text, durationMs, fromHz, toHz }: Hum): Int16Array {
  const random = gaussian(durationMs);
  const samples = new Int16Array((durationMs * LINE_RATE_HZ) / 1000);
  let phase = 0;
  for (let i = 0; i < samples.length; i++) {
    const at = i / samples.length;
    const pitchHz = fromHz + (toHz - fromHz) * at;
    const isBreath = text === 'Mm-hm.' && at > BREATH_FROM && at < BREATH_TO;
    phase += (2 * Math.PI * pitchHz) / LINE_RATE_HZ;
    const voice = isBreath ? 0.15 * murmur(phase, pitchHz) + 0.04 * random() : murmur(phase, pitchHz);
    samples[i] = Math.round(LEVEL * loudness(i, samples.length) * voice);
  }
  return samples;
}

function murmur(phase: number, pitchHz: number): number {
  let sum = 0;
  for (let harmonic = 1; harmonic * pitchHz < HIGHEST_HZ; harmonic++) {
    const height = RESONANCES.reduce(
      (total, [hz, widthHz, peak]) => total + peak / (1 + ((harmonic * pitchHz - hz) / widthHz) ** 2),
      0,
    );
    sum += height * Math.sin(harmonic * phase);
  }
  return sum;
}

function loudness(sample: number, length: number): number {
  const ms = (1000 * sample) / LINE_RATE_HZ;
  const leftMs = (1000 * (length - sample)) / LINE_RATE_HZ;
  return Math.min(1, ms / RISE_MS, leftMs / FALL_MS) * (0.7 + 0.3 * Math.sin((Math.PI * sample) / length));
}

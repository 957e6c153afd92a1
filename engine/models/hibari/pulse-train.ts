/**
 * The source of voiced sound: pulses at the pitch, made of all harmonics below 11 kHz at the same strength. Their sum
 * has a closed form: cos(w) + … + cos(h w) = sin((h + 1/2) w) / (2 sin(w / 2)) - 1/2.
 */
import { sine } from './tables.ts';

/** Sampling rate of the voices. */
export const HIBARI_RATE_HZ = 24_000;
/** Samples of one frame of the graph: 12.5 ms. */
export const HOP_SAMPLES = 300;

/** A lower pitch means that there is no voice. */
const LOWEST_HZ = 40;
const HIGHEST_HARMONIC_HZ = 11_000;
/** Nearer than this to a pulse's middle, its height is taken in place of 0 / 0. */
const MIDDLE = 2e-3;

/** Makes the pulses of a pitch frame by frame. Numbers are rounded where the reference keeps 32 bits. */
export class PulseTrain {
  readonly #f0: Float32Array;
  /** Of the pitch at all samples so far. */
  #hertzSum = 0;

  /** @param f0 Hz at the middle of each frame. */
  constructor(f0: Float32Array) {
    this.#f0 = f0;
  }

  /** Writes the samples of `frame` to `target` from `at` on; frames are asked for in order. Whether any is voiced. */
  write(frame: number, target: Float64Array, at: number): boolean {
    const f0 = this.#f0;
    const here = f0[frame] as number;
    const before = f0[Math.max(frame - 1, 0)] as number;
    const after = f0[Math.min(frame + 1, f0.length - 1)] as number;
    const half = HOP_SAMPLES / 2;
    const isBegun = this.#writeHalf(before, here, half, target, at);
    return this.#writeHalf(here, after, 0, target, at + half) || isBegun;
  }

  /** Half a frame between the middles of two, `first` samples behind the earlier one. */
  #writeHalf(from: number, to: number, first: number, target: Float64Array, at: number): boolean {
    if (from <= LOWEST_HZ && to <= LOWEST_HZ) return this.#skipHalf(target, at);
    for (let i = 0; i < HOP_SAMPLES / 2; i++) {
      const share = Math.fround((first + i + 0.5) / HOP_SAMPLES);
      const hertz = Math.fround(Math.fround(from * Math.fround(1 - share)) + Math.fround(to * share));
      this.#hertzSum += Math.max(hertz, LOWEST_HZ);
      target[at + i] = hertz > LOWEST_HZ ? pulseAt(this.#hertzSum / HIBARI_RATE_HZ, hertz) : 0;
    }
    return true;
  }

  #skipHalf(target: Float64Array, at: number): boolean {
    this.#hertzSum += (LOWEST_HZ * HOP_SAMPLES) / 2;
    target.fill(0, at, at + HOP_SAMPLES / 2);
    return false;
  }
}

/** The height of the train after `periods`, where its pitch is `hertz`. */
function pulseAt(periods: number, hertz: number): number {
  const angle = Math.fround((periods - Math.floor(periods)) * 2 * Math.PI);
  const harmonics = Math.floor(Math.fround(HIGHEST_HARMONIC_HZ / hertz)) + 0.5;
  const width = 2 * sine(angle / 2);
  return (Math.abs(width) <= MIDDLE ? harmonics : sine(Math.fround(harmonics * angle)) / width) - 0.5;
}

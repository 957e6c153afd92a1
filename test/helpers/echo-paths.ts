/**
 * Ways that sound takes from a telephone's earpiece to its microphone, made by arithmetic: noise that dies away
 * exponentially, behind a direct sound where there is one. Shapes after ITU-T G.168 (electric hybrids) and rooms by
 * their time of reverberation.
 */
import { gaussian } from './signals.ts';

/** What kind of way the echo takes. */
export type EchoPathKind = 'hybrid' | 'handset' | 'speakerphone' | 'car';

interface Shape {
  readonly lengthMs: number;
  /** In which it dies away by 60 dB. */
  readonly reverberationMs: number;
  /** The direct sound, beside noise of spread 1. */
  readonly direct: number;
}

const SHAPES: Readonly<Record<EchoPathKind, Shape>> = {
  hybrid: { lengthMs: 16, reverberationMs: 12, direct: 0 },
  handset: { lengthMs: 30, reverberationMs: 40, direct: 2 },
  speakerphone: { lengthMs: 120, reverberationMs: 250, direct: 2 },
  car: { lengthMs: 80, reverberationMs: 120, direct: 2 },
};

/** All kinds. */
export const ECHO_PATHS = Object.keys(SHAPES) as readonly EchoPathKind[];

/** An impulse response of energy 1 at `rateHz`, another for each seed. */
export function echoPath(kind: EchoPathKind, rateHz: number, seed: number): Float64Array {
  const { lengthMs, reverberationMs, direct } = SHAPES[kind];
  const random = gaussian(seed);
  const response = Float64Array.from(
    { length: Math.round((lengthMs * rateHz) / 1000) },
    (_, i) => random() * 10 ** ((-3 * i * 1000) / (reverberationMs * rateHz)),
  );
  response[0] = (response[0] as number) + direct;
  const size = Math.sqrt(response.reduce((sum, value) => sum + value * value, 0));
  return response.map((value) => value / size);
}

/** Adds `samples`, times `gain` and through `response`, to `sum` from `at` on; what lies outside of it is left out. */
export function addEcho(
  sum: Float64Array,
  at: number,
  samples: ArrayLike<number>,
  { response, gain }: { readonly response: Float64Array; readonly gain: number },
): void {
  for (let i = 0; i < samples.length; i++) {
    const sample = gain * (samples[i] as number);
    if (sample === 0) continue;
    const reach = Math.min(response.length, sum.length - at - i);
    for (let k = Math.max(0, -at - i); k < reach; k++)
      sum[at + i + k] = (sum[at + i + k] as number) + sample * (response[k] as number);
  }
}

/** Speech as the engine makes it → whole frames as a carrier takes them. */
import { padToFrames } from '../audio/frames.ts';
import { encodeG711 } from '../audio/g711.ts';
import { Resampler } from '../audio/resample.ts';
import { nextTurn } from '../foundation/next-turn.ts';
import { bytesToSamples, type Codec, samplesToMs } from '../foundation/units.ts';
import type { Prompt } from './prompt.ts';

/**
 * Filtering a second of speech takes a few ms: longer speech is converted a second at a time, and calls get their turn
 * in between.
 */
const STRETCH_SECONDS = 1;

/** `samples` at `rateHz` as a prompt in `codec`, filled up to whole frames with silence. */
export async function toPrompt(samples: Int16Array, rateHz: number, codec: Codec): Promise<Prompt> {
  const resampler = new Resampler(rateHz, codec.rateHz);
  const stretch = rateHz * STRETCH_SECONDS;
  const parts: Uint8Array[] = [];
  for (let from = 0; from < samples.length; from += stretch) {
    if (from > 0) await nextTurn();
    parts.push(encodeG711(resampler.push(samples.subarray(from, from + stretch)), codec));
  }
  parts.push(encodeG711(resampler.flush(), codec));
  const bytes = padToFrames(concat(parts), codec);
  return { bytes, durationMs: samplesToMs(bytesToSamples(bytes.length, codec), codec.rateHz) };
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

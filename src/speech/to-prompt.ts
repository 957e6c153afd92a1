/** Converts speech of the engine to whole frames of a codec. */
import { padToFrames } from '../audio/frames.ts';
import { encodeG711 } from '../audio/g711.ts';
import { Resampler } from '../audio/resample.ts';
import { nextTurn } from '../foundation/next-turn.ts';
import { bytesToSamples, type Codec, samplesToMs } from '../foundation/units.ts';
import type { Prompt } from './prompt.ts';

/** Filtering a second of speech takes a few ms: speech is converted in blocks, and work for calls runs in between. */
const BLOCK_SECONDS = 1;

/** Converts `samples` at `rateHz` to a prompt in `codec`, padded to whole frames with silence. */
export async function toPrompt(samples: Int16Array, rateHz: number, codec: Codec): Promise<Prompt> {
  const resampler = new Resampler(rateHz, codec.rateHz);
  const blockSamples = rateHz * BLOCK_SECONDS;
  const parts: Uint8Array[] = [];
  for (let from = 0; from < samples.length; from += blockSamples) {
    if (from > 0) await nextTurn();
    parts.push(encodeG711(resampler.push(samples.subarray(from, from + blockSamples)), codec));
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

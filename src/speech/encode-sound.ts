/** Converts speech of the engine to whole frames of a codec, while it is made. */
import { joinBytes } from '../audio/bytes.ts';
import { FrameEncoder } from '../audio/frame-encoder.ts';
import { nextTurn } from '../foundation/next-turn.ts';
import type { Codec } from '../foundation/units.ts';

/** Filtering a second of speech takes a few ms: speech is converted in blocks, and work for calls runs in between. */
const BLOCK_SECONDS = 1;

/** A stretch of mono speech. */
export interface Stretch {
  readonly samples: Int16Array;
  readonly rateHz: number;
  /** Whether the sound ends with it. */
  readonly isLast: boolean;
}

/**
 * Converts stretches of one sound, all at the same rate, to whole frames in `codec`, the last one padded with silence.
 * The frames of all parts together do not depend on how the sound is cut into stretches. No part is empty.
 */
export async function* encodeSound(
  stretches: AsyncIterable<Stretch>,
  codec: Codec,
): AsyncGenerator<Uint8Array, void, undefined> {
  let encoder: FrameEncoder | null = null;
  for await (const { samples, rateHz, isLast } of stretches) {
    encoder ??= new FrameEncoder(rateHz, codec);
    const blockSamples = rateHz * BLOCK_SECONDS;
    for (let from = 0; from === 0 || from < samples.length; from += blockSamples) {
      if (from > 0) await nextTurn();
      const frames = encoder.push(samples.subarray(from, from + blockSamples));
      const isEnd = isLast && from + blockSamples >= samples.length;
      const part = isEnd ? joinBytes([frames, encoder.flush()]) : frames;
      if (part.length > 0) yield part;
    }
  }
}

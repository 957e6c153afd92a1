/** Sound that is not speech of ours: recordings and keys, in pieces as they are played. */
import { digitTone } from '../../audio/dtmf.ts';
import { Framer, padToFrames } from '../../audio/frames.ts';
import { encodeG711 } from '../../audio/g711.ts';
import { Resampler } from '../../audio/resample.ts';
import type { Codec } from '../../foundation/units.ts';

/** A piece of an utterance: whole frames of the call's codec, perhaps none, and the text that they speak. */
export interface UtterancePiece {
  readonly text: string;
  readonly bytes: Uint8Array;
  /** The key whose tone it is; absent for everything else. */
  readonly digit?: string;
}

/** Mono sound that is there whole. */
export interface RepeatedAudio {
  readonly samples: Int16Array;
  readonly rateHz: number;
  /** What it is called in place of a text. */
  readonly label: string;
  /** How often it is played. */
  readonly loop: number;
}

/** A recording a second at a time, made as it is asked for. Its label comes last: it was heard when all of it was. */
export function* audioPieces({ samples, rateHz, label, loop }: RepeatedAudio, codec: Codec): Generator<UtterancePiece> {
  // Once for all rounds: a filter between odd rates takes some 10 ms to make, and a thousand rounds of nothing would be
  // made in one go.
  const resampler = new Resampler(rateHz, codec.rateHz);
  const framer = new Framer(codec);
  for (let round = 0; round < loop; round++) {
    for (let from = 0; from < samples.length; from += rateHz) {
      const second = resampler.push(samples.subarray(from, from + rateHz));
      yield { text: '', bytes: framer.push(encodeG711(second, codec)) };
    }
    yield { text: '', bytes: framer.push(encodeG711(resampler.flush(), codec)) };
    yield { text: '', bytes: framer.flush() };
  }
  yield { text: label, bytes: new Uint8Array(0) };
}

/** The tones of `digits`, one after the other. Throws a RangeError for what is no digit. */
export function* digitPieces(digits: string, codec: Codec): Generator<UtterancePiece> {
  for (const digit of digits) {
    const bytes = padToFrames(encodeG711(digitTone(digit, codec.rateHz), codec), codec);
    yield digit === 'w' ? { text: '', bytes } : { text: '', bytes, digit };
  }
}

/** Sound that is not speech of ours: recordings and keys, in pieces as they are played. */
import { digitTone } from '../../audio/dtmf.ts';
import { FrameEncoder } from '../../audio/frame-encoder.ts';
import { padToFrames } from '../../audio/frames.ts';
import { encodeG711 } from '../../audio/g711.ts';
import type { Codec } from '../../foundation/units.ts';

/** A piece of an utterance: its sound, and the text that it speaks. */
export interface UtterancePiece {
  readonly text: string;
  /** Whole frames of the call's codec, in parts as they are made; perhaps none. */
  readonly parts: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** How long it usually is; absent where its parts come at once. */
  readonly usualMs?: number;
  /** Whether its sound ended before its text did, which shows when its parts have ended. */
  readonly isCut?: boolean;
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
  const encoder = new FrameEncoder(rateHz, codec);
  for (let round = 0; round < loop; round++) {
    for (let from = 0; from < samples.length; from += rateHz) {
      yield { text: '', parts: [encoder.push(samples.subarray(from, from + rateHz))] };
    }
    yield { text: '', parts: [encoder.flush()] };
  }
  yield { text: label, parts: [] };
}

/** The tones of `digits`, one after the other. Throws a RangeError for what is no digit. */
export function* digitPieces(digits: string, codec: Codec): Generator<UtterancePiece> {
  for (const digit of digits) {
    const parts = [padToFrames(encodeG711(digitTone(digit, codec.rateHz), codec), codec)];
    yield digit === 'w' ? { text: '', parts } : { text: '', parts, digit };
  }
}

/** What an utterance is made of; and sound that is not speech of ours: recordings and keys, in pieces. */
import { DTMF_DIGITS, digitTone } from '../../audio/dtmf.ts';
import { FrameEncoder } from '../../audio/frame-encoder.ts';
import { padToFrames } from '../../audio/frames.ts';
import { encodeG711 } from '../../audio/g711.ts';
import { RATE_MAX_HZ, RATE_MIN_HZ } from '../../audio/resample.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import { type Codec, msToSamples } from '../../foundation/units.ts';
import type { PromptOrigin } from '../../speech/prompt-maker.ts';
import type { MonoAudio } from '../../speech/wav-leveller.ts';

const DIGITS_MAX = 100;
const LOOPS_MAX = 1000;

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
  /** Where the sound of a sentence comes from; absent for what is no sentence. */
  readonly origin?: Readonly<PromptOrigin>;
}

/** What an utterance says. */
export interface UtteranceContent {
  /** Its pieces in order; to be given up when the signal aborts. */
  pieces(signal: AbortSignal): AsyncIterable<UtterancePiece> | Iterable<UtterancePiece>;
  /** What it says, as far as that is known. */
  text(): string;
  /** Memory that it holds while it waits. */
  heldBytes(): number;
}

/** Mono sound that is there whole. */
interface RepeatedAudio {
  readonly samples: Int16Array;
  readonly rateHz: number;
  /** What it is called in place of a text. */
  readonly label: string;
  /** How often it is played. */
  readonly loop: number;
}

/**
 * A recording.
 * @throws TrunklineError `invalid_request` for a rate or a number of rounds out of range
 */
export function recordingOf(recording: RepeatedAudio, codec: Codec): UtteranceContent {
  const { samples, rateHz, label, loop } = recording;
  if (!Number.isInteger(loop) || loop < 1 || loop > LOOPS_MAX) {
    throw new TrunklineError('invalid_request', `loop: got ${loop}, expected a whole number from 1 to ${LOOPS_MAX}`);
  }
  if (!Number.isInteger(rateHz) || rateHz < RATE_MIN_HZ || rateHz > RATE_MAX_HZ) {
    throw new TrunklineError(
      'invalid_request',
      `rate: got ${rateHz} Hz, expected a whole number from ${RATE_MIN_HZ} to ${RATE_MAX_HZ}`,
    );
  }
  return {
    pieces: () => audioPieces(recording, codec),
    text: () => label,
    heldBytes: () => samples.byteLength,
  };
}

/** A part of an utterance: words, a recording with what it says, or silence. */
export type VoicePart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'recording'; readonly sound: MonoAudio; readonly text: string }
  | { readonly kind: 'pause'; readonly ms: number };

/**
 * Parts that are said one after the other; `speak` makes the pieces of a text.
 * @throws TrunklineError `invalid_request` for a rate out of range
 */
export function partsOf(
  parts: readonly VoicePart[],
  codec: Codec,
  speak: (text: string, signal: AbortSignal) => AsyncIterable<UtterancePiece>,
): UtteranceContent {
  const contents = parts.map((part, index) => partOf(spaced(part, parts[index + 1]), codec, speak));
  return {
    pieces: (signal) => piecesInTurn(contents, signal),
    text: () => contents.map((content) => content.text()).join(''),
    heldBytes: () => contents.reduce((sum, content) => sum + content.heldBytes(), 0),
  };
}

async function* piecesInTurn(contents: readonly UtteranceContent[], signal: AbortSignal) {
  for (const content of contents) {
    if (signal.aborted) return;
    yield* content.pieces(signal);
  }
}

/** Words do not run into those that follow. */
function spaced(part: VoicePart, next: VoicePart | undefined): VoicePart {
  return part.kind === 'pause' || next === undefined || part.text === ''
    ? part
    : { ...part, text: `${part.text.trim()} ` };
}

function partOf(part: VoicePart, codec: Codec, speak: Parameters<typeof partsOf>[2]): UtteranceContent {
  if (part.kind === 'text') {
    const { text } = part;
    return { pieces: (signal) => speak(text, signal), text: () => text, heldBytes: () => 2 * text.length };
  }
  const { rateHz } = codec;
  const sound = part.kind === 'pause' ? { samples: new Int16Array(msToSamples(part.ms, rateHz)), rateHz } : part.sound;
  return recordingOf({ ...sound, label: part.kind === 'pause' ? '' : part.text, loop: 1 }, codec);
}

/**
 * Keys that are pressed.
 * @throws TrunklineError `invalid_request` for what is no row of up to 100 digits
 */
export function keysOf(digits: string, codec: Codec): UtteranceContent {
  if (digits.length > DIGITS_MAX || digits === '' || ![...digits].every((digit) => DTMF_DIGITS.test(digit))) {
    throw new TrunklineError(
      'invalid_request',
      `digits: got ${digits.length} characters, expected 1 to ${DIGITS_MAX} of 0-9 * # A-D w`,
    );
  }
  return { pieces: () => digitPieces(digits, codec), text: () => '', heldBytes: () => 2 * digits.length };
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
function* digitPieces(digits: string, codec: Codec): Generator<UtterancePiece> {
  for (const digit of digits) {
    const parts = [padToFrames(encodeG711(digitTone(digit, codec.rateHz), codec), codec)];
    yield digit === 'w' ? { text: '', parts } : { text: '', parts, digit };
  }
}

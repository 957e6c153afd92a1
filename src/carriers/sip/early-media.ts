/**
 * What is heard of a call of ours before it is answered (RFC 3960): mostly ringback, sometimes an announcement, and the
 * first word of whoever answers, since sound overtakes the 200. It is kept for a moment, and the call gets it when it
 * begins, without the ringback.
 */
import { decodeG711 } from '../../audio/g711.ts';
import { joinSamples } from '../../audio/mix.ts';
import { powerAt } from '../../audio/power.ts';
import type { TrunklineError } from '../../foundation/errors.ts';
import { type Codec, msToSamples } from '../../foundation/units.ts';
import type { AudioChunk } from './rtp/receiver.ts';
import type { SessionListener } from './rtp/session.ts';

/** How much is kept: a sentence, and little enough to be caught up with at once. */
export const EARLY_KEPT_MS = 5000;
/** Packets may be short, and their times wrong. */
const KEPT_CHUNKS_MAX = 1000;

const BLOCK_MS = 100;
/** Ringback of all countries is one or two tones in here (ITU-T E.180): 400, 425, 440, 450 and 480 Hz. */
const TONES_FROM_HZ = 380;
const TONES_TO_HZ = 500;
/** Tones of whole periods in a block do not disturb each other. */
const TONES_STEP_HZ = 1000 / BLOCK_MS;
/** Of the energy; vowels have more beside their strongest harmonic. */
const TONE_SHARE_MIN = 0.8;
/** A quieter block is silence, in samples of 16 bits. */
const SILENT_RMS = 30;

type EarlyLeg = Pick<SessionListener, 'receiveAudio' | 'receiveDigit' | 'receiveTone' | 'fail'>;

export class EarlyMedia implements SessionListener {
  readonly #leg: EarlyLeg;
  #kept: AudioChunk[] = [];
  #begun = false;
  /** The chunk with which the call's sound begins. */
  #first: AudioChunk | null = null;

  constructor(leg: EarlyLeg) {
    this.#leg = leg;
  }

  /** The call is answered and has begun; its sound is in `codec`. What was kept goes to its leg, and all that comes. */
  begin(codec: Codec): void {
    this.#begun = true;
    const kept = withoutRingback(this.#kept, codec);
    this.#kept = [];
    for (const chunk of kept) this.#pass(chunk);
  }

  /** Somebody else is called in the place of whoever was heard. */
  forget(): void {
    this.#kept = [];
  }

  receiveAudio(chunk: AudioChunk): void {
    if (this.#begun) {
      this.#pass(chunk);
      return;
    }
    this.#kept.push(chunk);
    while ((this.#kept[0]?.atMs ?? 0) < chunk.atMs - EARLY_KEPT_MS || this.#kept.length > KEPT_CHUNKS_MAX)
      this.#kept.shift();
  }

  receiveDigit(digit: string): void {
    if (this.#begun) this.#leg.receiveDigit(digit);
  }

  receiveTone(digit: string): void {
    if (this.#begun) this.#leg.receiveTone?.(digit);
  }

  /** Before the answer there need not be any sound. */
  fail(error: TrunklineError): void {
    if (this.#begun) this.#leg.fail(error);
  }

  /** The call's sound begins with 1 at 0 ms. */
  #pass(chunk: AudioChunk): void {
    this.#first ??= chunk;
    const sequence = chunk.sequence - this.#first.sequence + 1;
    if (sequence >= 1) this.#leg.receiveAudio({ ...chunk, sequence, atMs: Math.max(0, chunk.atMs - this.#first.atMs) });
  }
}

/** What follows the last ringback. */
function withoutRingback(chunks: readonly AudioChunk[], codec: Codec): readonly AudioChunk[] {
  const blockSamples = msToSamples(BLOCK_MS, codec.rateHz);
  let block: Int16Array[] = [];
  let length = 0;
  let from = 0;
  for (const [index, { bytes }] of chunks.entries()) {
    const samples = decodeG711(bytes, codec);
    block.push(samples);
    length += samples.length;
    if (length < blockSamples) continue;
    if (isRingback(joinSamples(block).subarray(0, blockSamples), codec.rateHz)) from = index + 1;
    block = [];
    length = 0;
  }
  return chunks.slice(from);
}

/** Whether a block of {@link BLOCK_MS} is hardly anything but the tones of ringback. */
function isRingback(samples: Int16Array, rateHz: number): boolean {
  const energy = samples.reduce((sum, sample) => sum + sample * sample, 0);
  if (energy < samples.length * SILENT_RMS ** 2) return false;
  let tones = 0;
  for (let hz = TONES_FROM_HZ; hz <= TONES_TO_HZ; hz += TONES_STEP_HZ)
    tones += (powerAt(hz, samples, rateHz) * 2) / samples.length;
  return tones / energy >= TONE_SHARE_MIN;
}

/**
 * The tones of fax machines: the calling one's (CNG, 1100 Hz) and the answering one's (CED, 2100 Hz, with or without
 * phase reversals), as ITU-T T.30 and V.25 have them, and the flags with which the answering one begins to talk (V.21).
 * Blocks of 20 ms whose zero crossings fit none of them, nearly all of a call, are looked at no further.
 */
import { msToSamples } from '../../foundation/units.ts';
import { powerAt } from '../power.ts';
import { FaxFlags } from './fax-flags.ts';
import { SampleBlocks } from './sample-blocks.ts';

/** `cng`: a fax machine calls; `ced`, `v21`: one has answered. */
export type FaxTone = 'cng' | 'ced' | 'v21';

const BLOCK_MS = 20;
/** Below about −46 dBov (RMS): T.30 wants no tone below −43 dBm0. */
const LEVEL_MIN = 165;
/** CNG may be 38 Hz off, CED 15 Hz. */
const CNG_HZ = [1075, 1100, 1125];
const CED_HZ = [2100];
const V21_MIN_HZ = 1550;
const V21_MAX_HZ = 1950;
/** How far the zero crossings of a tone in noise may be off. */
const CROSSINGS_SLACK_HZ = 130;
/** Share of the energy that is the tone's. */
const SHARE_MIN = 0.55;
/** CNG lasts 0.5 s, within 15 %; blocks are cut anywhere. */
const CNG_MIN_MS = 400;
const CNG_MAX_MS = 620;
/** From the end of one CNG to the beginning of the next: 3 s, within 15 %. */
const CNG_GAP_MIN_MS = 2400;
const CNG_GAP_MAX_MS = 3600;
/** CED lasts 2.6 s at least; no beep of a machine lasts so long. */
const CED_MIN_MS = 1000;

interface FaxToneOptions {
  readonly rateHz: number;
  /** Tones of 1100 Hz that make a fax machine: 1, or 2 where one could be the beep of an answering machine. */
  readonly callingTones: 1 | 2;
}

/** Follows one track. */
export class FaxToneDetector {
  readonly #rateHz: number;
  readonly #callingTones: 1 | 2;
  readonly #blocks: SampleBlocks;
  readonly #flags: FaxFlags;
  readonly #calling = new ToneRun();
  readonly #answering = new ToneRun();
  /** Blocks so far, and the one at which the last calling tone ended. */
  #count = 0;
  #callingEndedAt: number | null = null;

  constructor({ rateHz, callingTones }: FaxToneOptions) {
    this.#rateHz = rateHz;
    this.#callingTones = callingTones;
    this.#blocks = new SampleBlocks(msToSamples(BLOCK_MS, rateHz));
    this.#flags = new FaxFlags(rateHz);
  }

  /** Takes what comes next, of any length. Returns the tone that is certain now; null = none. */
  push(samples: Int16Array): FaxTone | null {
    let found: FaxTone | null = null;
    this.#blocks.push(samples, (block) => {
      found ??= this.#take(block);
    });
    return found;
  }

  #take(block: Int16Array): FaxTone | null {
    this.#count++;
    const { energy, crossingsHz } = measure(block, this.#rateHz);
    const isLoud = energy >= LEVEL_MIN ** 2 * block.length;
    const has = (tonesHz: readonly number[]): boolean =>
      isLoud && isNear(crossingsHz, tonesHz) && shareOf(block, energy, tonesHz, this.#rateHz) >= SHARE_MIN;
    const flags = isLoud && crossingsHz >= V21_MIN_HZ && crossingsHz <= V21_MAX_HZ;
    const isTalking = flags ? this.#flags.take(block) : this.#flags.reset();
    if (isTalking) return 'v21';
    this.#answering.note(has(CED_HZ));
    if (this.#answering.blocks * BLOCK_MS >= CED_MIN_MS) return 'ced';
    const ended = this.#calling.note(has(CNG_HZ));
    return ended !== null && this.#isCalling(ended) ? 'cng' : null;
  }

  /** A tone of 1100 Hz is over that lasted `blocks`. */
  #isCalling(blocks: number): boolean {
    const lastedMs = blocks * BLOCK_MS;
    if (lastedMs < CNG_MIN_MS || lastedMs > CNG_MAX_MS) return false;
    const before = this.#callingEndedAt;
    this.#callingEndedAt = this.#count;
    if (this.#callingTones === 1) return true;
    const gapMs = before === null ? 0 : (this.#count - blocks - before) * BLOCK_MS;
    return gapMs >= CNG_GAP_MIN_MS && gapMs <= CNG_GAP_MAX_MS;
  }
}

/** Blocks in a row that hold a tone; one that does not is passed over: a phase reversal, a packet that was lost. */
class ToneRun {
  blocks = 0;
  #missed = 0;

  /** Returns the length of the run that is over with this block, in blocks; null = none is. */
  note(isTone: boolean): number | null {
    if (isTone) {
      this.blocks += 1 + this.#missed;
      this.#missed = 0;
      return null;
    }
    if (this.blocks === 0) return null;
    this.#missed++;
    if (this.#missed < 2) return null;
    const { blocks } = this;
    this.blocks = 0;
    this.#missed = 0;
    return blocks;
  }
}

function measure(block: Int16Array, rateHz: number): { readonly energy: number; readonly crossingsHz: number } {
  let energy = 0;
  let crossings = 0;
  let isPositive = (block[0] ?? 0) >= 0;
  for (let i = 0; i < block.length; i++) {
    const sample = block[i] as number;
    energy += sample * sample;
    if (sample >= 0 === isPositive) continue;
    crossings++;
    isPositive = !isPositive;
  }
  return { energy, crossingsHz: (crossings * rateHz) / (2 * block.length) };
}

function isNear(crossingsHz: number, tonesHz: readonly number[]): boolean {
  return tonesHz.some((toneHz) => Math.abs(crossingsHz - toneHz) <= CROSSINGS_SLACK_HZ);
}

/** The greatest share of the energy of `block` that one of `tonesHz` has: 1 = all of it. */
function shareOf(block: Int16Array, energy: number, tonesHz: readonly number[], rateHz: number): number {
  let most = 0;
  for (const toneHz of tonesHz) most = Math.max(most, powerAt(toneHz, block, rateHz));
  return most / ((energy * block.length) / 2);
}

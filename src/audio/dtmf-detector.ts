/**
 * Finds pressed keys in sound, for telephones that send them as tones: Goertzel's algorithm at the eight frequencies
 * of ITU-T Q.23, with the bounds of Q.24 (40 ms of tone and of pause, 1.5 % of frequency, 8 and 4 dB of twist). Speech
 * has both tones for a moment, too; what it does not have is nothing but them, steadily, without harmonics.
 */
import { msToSamples } from '../foundation/units.ts';
import { meanSquare, powerAt } from './power.ts';

const LOW_HZ = [697, 770, 852, 941] as const;
const HIGH_HZ = [1209, 1336, 1477, 1633] as const;
/** The rows of a keypad. */
const KEYS = ['123A', '456B', '789C', '*0#D'] as const;

/** Short enough to tell tones that are 1.5 % off, long enough to tell neighbours. */
const WINDOW_MS = 13;
const HOP_MS = 5;
/** Windows in a row that show one key until it counts: 33 ms of tone. */
const PRESSED_WINDOWS = 5;
/** Windows in a row that do not until it is up: interruptions of 10 ms press nothing twice (Q.24). */
const RELEASED_WINDOWS = 6;
/** Of the energy that both tones have; the rest is noise, a second voice, or a harmonic. */
const SHARE_MIN = 0.7;
/** A tone beside the next strongest one of its group: 8 dB. */
const NEIGHBOUR_RATIO = 6.3;
/** How much stronger the low tone may be than the high one, and the other way round: Q.24's 8 and 4 dB, and 2 more. */
const TWIST = 10;
const REVERSE_TWIST = 4;
/** Of the high tone and its second harmonic; voices have one. That of the low tone lies among the high ones. */
const HARMONIC_RATIO = 12;
/** Strongest beside weakest window of one key; the first and last ones are partly outside. */
const STEADY_RATIO = 8;
/** Mean square of 16-bit samples below which nothing is looked for: about −42 dBov. */
const QUIET = 70_000;

/** One window's key. */
interface Found {
  readonly digit: string;
  /** Mean square of the samples. */
  readonly level: number;
}

/** One stream; all its sound in order. */
export class DtmfDetector {
  readonly #rateHz: number;
  readonly #window: Int16Array;
  readonly #hop: number;
  /** Samples in the window. */
  #filled = 0;
  /** What the latest windows show, and for how many in a row. */
  #candidate: string | null = null;
  #count = 0;
  #weakest = 0;
  #strongest = 0;
  /** The key that is down. */
  #down: string | null = null;
  #missed = 0;

  constructor(rateHz: number) {
    this.#rateHz = rateHz;
    this.#window = new Int16Array(msToSamples(WINDOW_MS, rateHz));
    this.#hop = msToSamples(HOP_MS, rateHz);
  }

  /** Whether a key is down, as far as the sound goes that was pushed. */
  get isDown(): boolean {
    return this.#down !== null;
  }

  /** The keys (0–9, `*`, `#`, A–D) that this sound shows to be pressed, each once. */
  push(samples: Int16Array): string[] {
    const pressed: string[] = [];
    for (let from = 0; from < samples.length; ) {
      const part = samples.subarray(from, from + this.#window.length - this.#filled);
      this.#window.set(part, this.#filled);
      this.#filled += part.length;
      from += part.length;
      if (this.#filled < this.#window.length) break;
      const digit = this.#look(findKey(this.#window, this.#rateHz));
      if (digit !== null) pressed.push(digit);
      this.#window.copyWithin(0, this.#hop);
      this.#filled -= this.#hop;
    }
    return pressed;
  }

  #look(found: Found | null): string | null {
    if (this.#down !== null) {
      this.#missed = found?.digit === this.#down ? 0 : this.#missed + 1;
      if (this.#missed < RELEASED_WINDOWS) return null;
      this.#down = null;
    }
    if (found === null || found.digit !== this.#candidate) {
      this.#candidate = found?.digit ?? null;
      this.#count = found === null ? 0 : 1;
      this.#weakest = found?.level ?? 0;
      this.#strongest = this.#weakest;
      return null;
    }
    this.#count++;
    this.#weakest = Math.min(this.#weakest, found.level);
    this.#strongest = Math.max(this.#strongest, found.level);
    if (this.#count < PRESSED_WINDOWS || this.#strongest > this.#weakest * STEADY_RATIO) return null;
    this.#down = found.digit;
    this.#candidate = null;
    this.#count = 0;
    this.#missed = 0;
    return found.digit;
  }
}

/** The key whose tones a window consists of; null = it does not. */
function findKey(window: Int16Array, rateHz: number): Found | null {
  const level = meanSquare(window);
  if (level < QUIET) return null;
  const low = strongest(LOW_HZ, window, rateHz);
  const high = strongest(HIGH_HZ, window, rateHz);
  if (low === null || high === null) return null;
  if (((low.power + high.power) * 2) / window.length < SHARE_MIN * level * window.length) return null;
  if (low.power > high.power * TWIST || high.power > low.power * REVERSE_TWIST) return null;
  const hasHarmonic = powerAt(2 * high.hz, window, rateHz) * HARMONIC_RATIO > high.power;
  const digit = KEYS[low.index]?.[high.index];
  return hasHarmonic || digit === undefined ? null : { digit, level };
}

interface Tone {
  readonly index: number;
  readonly hz: number;
  readonly power: number;
}

/** The tone of a group that stands out from the others of it; null = none does. */
function strongest(group: readonly number[], window: Int16Array, rateHz: number): Tone | null {
  const tones = group.map((hz, index) => ({ index, hz, power: powerAt(hz, window, rateHz) }));
  const best = tones.reduce((a, b) => (b.power > a.power ? b : a));
  const standsOut = tones.every((each) => each === best || each.power * NEIGHBOUR_RATIO <= best.power);
  return standsOut ? best : null;
}

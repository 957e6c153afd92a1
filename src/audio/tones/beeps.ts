/**
 * The beep of an answering machine: one pure tone that stands still, of any pitch, with silence behind it. Spectra of
 * 32 ms, one each 16 ms; speech and music have more than one peak, glide, or go on.
 */
import { msToSamples, samplesToMs } from '../../foundation/units.ts';
import { Spectrum } from '../echo/spectrum.ts';
import { SampleBlocks } from './sample-blocks.ts';

const HOP_MS = 16;
const HOPS_PER_WINDOW = 2;
/** Beeps of machines: 400 to 2600 Hz. */
const MIN_HZ = 380;
const MAX_HZ = 2700;
/** Bins around the peak that are the tone's: the main lobe of a Hann window. */
const LOBE_BINS = 2;
const SHARE_MIN = 0.85;
/** How wide the lobe of one tone is, in squares of bins: a third. Two tones 40 Hz apart, ringing, are wider. */
const SPREAD_MAX = 0.5;
/** About −48 dBov (RMS). */
const LEVEL_MIN = 130;
/** How far the pitch may move. */
const DRIFT_HZ = 20;
/** Half, or twice the energy of the frame before. */
const LEVEL_RATIO = 2;
const BEEP_MIN_MS = 120;
/** From then on it may become one. */
const PENDING_MIN_MS = 64;
/** Longer is a dial tone, a fax or a line that is out of order. */
const BEEP_MAX_MS = 2500;
/** Ringing of one tone, as most countries have it: it comes where a machine passes the call on. */
const RINGING_HZ = 425;
const RINGING_MS = 1000;
const RINGING_SLACK_HZ = 6;
const RINGING_SLACK_MS = 120;
/** So much quiet behind it is certain to be the end. */
const QUIET_MS = 200;
/** Quiet has less than this share of the energy of the beep: −20 dB. */
const QUIET_SHARE = 0.01;

/** A beep that is over. Times are in ms since the first sample. */
export interface Beep {
  readonly startMs: number;
  readonly endMs: number;
  readonly pitchHz: number;
}

interface Frame {
  readonly energy: number;
  /** Null = no pure tone. */
  readonly pitchHz: number | null;
}

/** Frames that hold the same tone, the last of them that of `toHop`; `energy` is that of the loudest. */
interface Run {
  readonly pitchHz: number;
  readonly fromHop: number;
  energy: number;
  toHop: number;
}

/** Follows one track. */
export class BeepDetector {
  readonly #rateHz: number;
  readonly #hop: number;
  readonly #blocks: SampleBlocks;
  readonly #window: Float64Array;
  readonly #hann: Float64Array;
  readonly #spectrum: Spectrum;
  readonly #bins: Float64Array;
  readonly #shaped: Float64Array;
  readonly #binHz: number;
  #hops = 0;
  #run: Run | null = null;

  /** @param rateHz 8000 or 16000 */
  constructor(rateHz: number) {
    this.#rateHz = rateHz;
    this.#hop = msToSamples(HOP_MS, rateHz);
    const size = this.#hop * HOPS_PER_WINDOW;
    this.#blocks = new SampleBlocks(this.#hop);
    this.#window = new Float64Array(size);
    this.#shaped = new Float64Array(size);
    this.#hann = Float64Array.from({ length: size }, (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / size));
    this.#spectrum = new Spectrum(size);
    this.#bins = new Float64Array(this.#spectrum.length);
    this.#binHz = rateHz / size;
  }

  /** Whether there is a tone now, or was one right before, that may turn out to be a beep. */
  get isPending(): boolean {
    const run = this.#run;
    if (run === null) return false;
    const lastedMs = (run.toHop - run.fromHop + HOPS_PER_WINDOW) * HOP_MS;
    return lastedMs >= PENDING_MIN_MS && lastedMs <= BEEP_MAX_MS;
  }

  /** Takes what comes next, of any length. Returns the beep that is certain now; null = none. */
  push(samples: Int16Array): Beep | null {
    let found: Beep | null = null;
    this.#blocks.push(samples, (block) => {
      found ??= this.#take(block);
    });
    return found;
  }

  #take(block: Int16Array): Beep | null {
    this.#window.copyWithin(0, this.#hop);
    this.#window.set(block, this.#window.length - this.#hop);
    this.#hops++;
    return this.#follow(this.#look());
  }

  #follow({ pitchHz, energy }: Frame): Beep | null {
    const run = this.#run;
    if (run === null || (pitchHz !== null && !isEndOf(run, pitchHz, energy))) {
      if (pitchHz !== null) this.#extend(pitchHz, energy);
      return null;
    }
    const hopsSince = this.#hops - run.toHop;
    if (energy > run.energy * QUIET_SHARE) {
      // The window in which a tone ends holds a part of it; further sound makes it no beep.
      if (hopsSince > HOPS_PER_WINDOW) this.#run = null;
      return null;
    }
    if (hopsSince * HOP_MS < QUIET_MS) return null;
    this.#run = null;
    return this.#beepOf(run);
  }

  #extend(pitchHz: number, energy: number): void {
    const run = this.#run;
    const goesOn =
      run !== null &&
      this.#hops === run.toHop + 1 &&
      Math.abs(pitchHz - run.pitchHz) <= DRIFT_HZ &&
      energy <= run.energy * LEVEL_RATIO;
    if (!goesOn) this.#run = { pitchHz, energy, fromHop: this.#hops, toHop: this.#hops };
    else {
      run.toHop = this.#hops;
      run.energy = Math.max(run.energy, energy);
    }
  }

  /** A frame of a run is full of the tone, so the tone began most of a window before it. */
  #beepOf({ fromHop, toHop, pitchHz }: Run): Beep | null {
    const startMs = samplesToMs((fromHop - HOPS_PER_WINDOW) * this.#hop, this.#rateHz);
    const endMs = samplesToMs(toHop * this.#hop, this.#rateHz);
    const lastedMs = endMs - startMs;
    const isRinging =
      Math.abs(pitchHz - RINGING_HZ) <= RINGING_SLACK_HZ && Math.abs(lastedMs - RINGING_MS) <= RINGING_SLACK_MS;
    if (lastedMs < BEEP_MIN_MS || lastedMs > BEEP_MAX_MS || isRinging) return null;
    return { startMs: Math.max(0, startMs), endMs, pitchHz: Math.round(pitchHz) };
  }

  #look(): Frame {
    let energy = 0;
    for (let i = 0; i < this.#window.length; i++) {
      const sample = this.#window[i] as number;
      energy += sample * sample;
      this.#shaped[i] = sample * (this.#hann[i] as number);
    }
    if (energy < LEVEL_MIN ** 2 * this.#window.length) return { energy, pitchHz: null };
    this.#spectrum.forward(this.#shaped, this.#bins);
    return { energy, pitchHz: this.#purePitchHz() };
  }

  #purePitchHz(): number | null {
    let total = 0;
    let peak = 0;
    let peakPower = 0;
    for (let bin = 2; bin < this.#bins.length / 2; bin++) {
      const power = this.#powerAt(bin);
      total += power;
      if (power <= peakPower) continue;
      peakPower = power;
      peak = bin;
    }
    let own = 0;
    let moment = 0;
    let square = 0;
    for (let offset = -LOBE_BINS; offset <= LOBE_BINS; offset++) {
      const power = this.#powerAt(peak + offset);
      own += power;
      moment += power * offset;
      square += power * offset * offset;
    }
    const mean = moment / own;
    const pitchHz = (peak + mean) * this.#binHz;
    const isOne = own >= total * SHARE_MIN && square / own - mean * mean <= SPREAD_MAX;
    return isOne && pitchHz >= MIN_HZ && pitchHz <= MAX_HZ ? pitchHz : null;
  }

  #powerAt(bin: number): number {
    const real = this.#bins[2 * bin] ?? 0;
    const imaginary = this.#bins[2 * bin + 1] ?? 0;
    return real * real + imaginary * imaginary;
  }
}

/** Of a tone that ends a part is left in the window: as pure, and weaker. */
function isEndOf(run: Run, pitchHz: number, energy: number): boolean {
  return Math.abs(pitchHz - run.pitchHz) <= DRIFT_HZ && energy < run.energy / LEVEL_RATIO;
}

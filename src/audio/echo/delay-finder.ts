/**
 * How much later our voice comes back: by the generalised cross-correlation of what was sent and what came back, with
 * the phase transform (C. H. Knapp and G. C. Carter, "The generalized correlation method for estimation of time delay",
 * IEEE Trans. ASSP 24, 1976). It works at 4 kHz; looks in a row are added up.
 */
import { Spectrum } from './spectrum.ts';

/** At this rate both signals are compared, in Hz. */
const RATE_HZ = 4000;
/** What was sent is compared over about a second, what came back over its last quarter. */
const SENT_SAMPLES = 4096;
const HEARD_SAMPLES = 1024;
/** The longest delay that can be found, in ms. */
export const DELAY_MAX_MS = ((SENT_SAMPLES - HEARD_SAMPLES) * 1000) / RATE_HZ;
/** Speech has little below and nothing above, in Hz. */
const BAND_FROM_HZ = 150;
const BAND_TO_HZ = 1900;
/** Of a tone there is nothing in other bins but what its window leaves there, which is alike to that of any other. */
const FAINT = 1e-5;
/** Delays this near to the least and the greatest are not told from what lies beyond. */
const EDGE_SAMPLES = 8;
/** How much of the looks before counts beside a new one. */
const MEMORY = 0.7;
/** A hard edge of a window would be found as a likeness. */
const SENT_TAPER = risingCosine(256);
const HEARD_TAPER = risingCosine(256);
/** Taps of the half-band filter on each side of its middle: every other one is zero. */
const HALF_BAND = [0.3064, 0, -0.0839, 0, 0.0374, 0, -0.0133] as const;

/** The likeliest delay of the last look. */
export interface FoundDelay {
  /** In samples of the finder's input. */
  readonly samples: number;
  /** How far it stands out from all other delays, in standard deviations of these; chance gives up to 4.5. */
  readonly certainty: number;
}

export class DelayFinder {
  readonly #stride: number;
  readonly #sent: Halver;
  readonly #heard: Halver;
  readonly #spectrum = new Spectrum(SENT_SAMPLES);
  readonly #window = new Float64Array(SENT_SAMPLES);
  readonly #sentBins = new Float64Array(SENT_SAMPLES + 2);
  readonly #heardBins = new Float64Array(SENT_SAMPLES + 2);
  readonly #likeness = new Float64Array(SENT_SAMPLES);
  readonly #sum = new Float64Array(SENT_SAMPLES - HEARD_SAMPLES + 1);

  /** `rateHz` of both signals: 8000 or 16000. */
  constructor(rateHz: number) {
    this.#stride = rateHz / RATE_HZ;
    const halvings = Math.log2(this.#stride);
    this.#sent = new Halver(SENT_SAMPLES, halvings);
    this.#heard = new Halver(HEARD_SAMPLES, halvings);
  }

  /** Takes a block of each, of the same length. */
  push(sent: Float64Array, heard: Float64Array): void {
    this.#sent.push(sent);
    this.#heard.push(heard);
  }

  /** What was added up so far is of another line. */
  forget(): void {
    this.#sum.fill(0);
  }

  /** What was heard so far is of another line, too. */
  forgetHeard(): void {
    this.#heard.clear();
  }

  /** Compares what there is now. */
  look(): FoundDelay {
    this.#spectrum.forward(this.#sent.copyTo(this.#window, SENT_TAPER), this.#sentBins);
    this.#window.fill(0);
    this.#spectrum.forward(this.#heard.copyTo(this.#window, HEARD_TAPER), this.#heardBins);
    this.#whiten();
    this.#spectrum.inverse(this.#heardBins, this.#likeness);
    for (let delay = 0; delay < this.#sum.length; delay++) {
      const at = SENT_SAMPLES - HEARD_SAMPLES - delay;
      this.#sum[delay] = MEMORY * (this.#sum[delay] as number) + (this.#likeness[at] as number);
    }
    return this.#peak();
  }

  /** The cross-spectrum, each bin of the band turned into a phase alone. */
  #whiten(): void {
    const sent = this.#sentBins;
    const heard = this.#heardBins;
    const from = Math.round((BAND_FROM_HZ * SENT_SAMPLES) / RATE_HZ);
    const to = Math.round((BAND_TO_HZ * SENT_SAMPLES) / RATE_HZ);
    const leastSent = FAINT * loudest(sent, from, to);
    const leastHeard = FAINT * loudest(heard, from, to);
    for (let bin = 0; bin <= SENT_SAMPLES / 2; bin++) {
      const i = 2 * bin;
      const sr = sent[i] as number;
      const si = sent[i + 1] as number;
      const hr = heard[i] as number;
      const hi = heard[i + 1] as number;
      const sentPower = sr * sr + si * si;
      const heardPower = hr * hr + hi * hi;
      const counts = bin >= from && bin <= to && sentPower > leastSent && heardPower > leastHeard;
      const weight = counts ? 1 / Math.sqrt(sentPower * heardPower) : 0;
      heard[i] = weight * (sr * hr + si * hi);
      heard[i + 1] = weight * (si * hr - sr * hi);
    }
  }

  #peak(): FoundDelay {
    const sum = this.#sum;
    let best = EDGE_SAMPLES;
    let energy = 0;
    for (let delay = 0; delay < sum.length; delay++) {
      const value = sum[delay] as number;
      energy += value * value;
      const isEdge = delay < EDGE_SAMPLES || delay >= sum.length - EDGE_SAMPLES;
      if (!isEdge && value > (sum[best] as number)) best = delay;
    }
    const spread = Math.sqrt(energy / sum.length);
    return { samples: best * this.#stride, certainty: spread === 0 ? 0 : (sum[best] as number) / spread };
  }
}

/** The power of the strongest of these bins. */
function loudest(bins: Float64Array, from: number, to: number): number {
  let most = 0;
  for (let i = 2 * from; i <= 2 * to; i += 2)
    most = Math.max(most, (bins[i] as number) ** 2 + (bins[i + 1] as number) ** 2);
  return most;
}

function risingCosine(samples: number): Float64Array {
  return Float64Array.from({ length: samples }, (_, i) => 0.5 - 0.5 * Math.cos((Math.PI * (i + 0.5)) / samples));
}

/** Keeps the last samples of a signal at a half, or a quarter, of its rate. */
class Halver {
  readonly #samples: Float64Array;
  readonly #stages: HalfBand[];

  constructor(length: number, halvings: number) {
    this.#samples = new Float64Array(length);
    this.#stages = Array.from({ length: halvings }, () => new HalfBand());
  }

  clear(): void {
    this.#samples.fill(0);
  }

  push(block: Float64Array): void {
    const halved = this.#stages.reduce((samples, stage) => stage.halve(samples), block);
    this.#samples.copyWithin(0, halved.length);
    this.#samples.set(halved, this.#samples.length - halved.length);
  }

  /** Writes them to the beginning of `window`, softened at both ends by `taper`. */
  copyTo(window: Float64Array, taper: Float64Array): Float64Array {
    window.set(this.#samples);
    for (let i = 0, j = this.#samples.length - 1; i < taper.length; i++, j--) {
      window[i] = (window[i] as number) * (taper[i] as number);
      window[j] = (window[j] as number) * (taper[i] as number);
    }
    return window;
  }
}

/** Halves the rate of a signal that comes in blocks of an even number of samples. */
class HalfBand {
  #held = new Float64Array(2 * HALF_BAND.length);

  halve(block: Float64Array): Float64Array {
    const reach = HALF_BAND.length;
    const samples = new Float64Array(this.#held.length + block.length);
    samples.set(this.#held);
    samples.set(block, this.#held.length);
    const halved = new Float64Array(block.length / 2);
    for (let i = 0; i < halved.length; i++) {
      const middle = 2 * i + reach;
      let sum = 0.5 * (samples[middle] as number);
      for (let k = 0; k < reach; k += 2)
        sum += HALF_BAND[k as 0] * ((samples[middle - k - 1] as number) + (samples[middle + k + 1] as number));
      halved[i] = sum;
    }
    this.#held = samples.slice(block.length);
    return halved;
  }
}

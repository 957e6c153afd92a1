/**
 * An adaptive filter that learns the way of our voice to the caller's telephone and back: a partitioned filter in
 * frequency blocks (J.-S. Soo and K. K. Pang, "Multidelay block frequency domain adaptive filter", IEEE Trans. ASSP 38,
 * 1990). How fast it learns, bin by bin, follows from how much of the error is echo that is left (J.-M. Valin, "On
 * adjusting the learning rate in frequency domain echo cancellation with double-talk", IEEE Trans. ASLP 15, 2007). Two
 * filters share the work (K. Ochiai et al., "Echo canceler with two echo path models", IEEE Trans. Comm. 25, 1977): one
 * learns, and the other, whose output counts, takes over what the first has learned once that is surely better. So
 * speech of both sides at once cannot spoil what is known.
 */

import { Spectrum } from './spectrum.ts';

/** Keeps quotients finite: below the energy of one step of a sample. */
const TINY = 1;
/** The least and the greatest part of the estimated echo that is held for left over. */
const LEAK_MIN = 0.005;
/** A learning rate of more than this of the error's share makes the filter unstable. */
const RATE_MAX = 0.5;
/** Before the filter is known to work it learns at this rate of the reference's share. */
const FIRST_RATE = 0.25;
/** Reference with less than this mean square of a sample teaches nothing. */
const QUIET = 100;
/** Blocks from one weighing of the parts of the filter to the next. */
const SHARES_EVERY = 16;

/** Of what size a filter is. */
export interface AdaptiveFilterOptions {
  readonly blockSamples: number;
  readonly partitions: number;
  readonly rateHz: number;
}

export class AdaptiveFilter {
  /** What is left of the last block when the echo is taken away. */
  readonly rest: Float64Array;
  readonly #block: number;
  readonly #partitions: number;
  readonly #spectrum: Spectrum;
  /** Spectra of the reference, the newest at `#newest`; those of older blocks behind it, in a circle. */
  readonly #references: Float64Array;
  readonly #learning: Float64Array;
  readonly #known: Float64Array;
  readonly #power: Float64Array;
  readonly #rates: Float64Array;
  readonly #shares: Float64Array;
  readonly #error: Float64Array;
  readonly #sum: Float64Array;
  readonly #time: Float64Array;
  readonly #learned: Float64Array;
  readonly #foretold: Float64Array;
  readonly #leak: LeakEstimate;
  readonly #duel = new Duel();
  #newest = 0;
  #constrained = 0;
  #blocks = 0;
  /** How much was learned at the first rate, in whole steps. */
  #practice = 0;
  #isAdapted = false;

  /** `blockSamples` = a power of two; the filter is `partitions` blocks long. */
  constructor({ blockSamples, partitions, rateHz }: AdaptiveFilterOptions) {
    this.#block = blockSamples;
    this.#partitions = partitions;
    this.#spectrum = new Spectrum(2 * blockSamples);
    const bins = blockSamples + 1;
    const spectrum = (): Float64Array => new Float64Array(2 * bins);
    const spectra = (): Float64Array => new Float64Array(2 * bins * partitions);
    const block = (): Float64Array => new Float64Array(blockSamples);
    [this.#references, this.#learning, this.#known] = [spectra(), spectra(), spectra()];
    [this.#error, this.#sum] = [spectrum(), spectrum()];
    [this.rest, this.#learned, this.#foretold] = [block(), block(), block()];
    this.#time = new Float64Array(2 * blockSamples);
    this.#power = new Float64Array(bins).fill(TINY);
    this.#rates = new Float64Array(bins);
    this.#shares = new Float64Array(partitions).fill(1 / partitions);
    this.#leak = new LeakEstimate(bins, blockSamples / rateHz);
  }

  /** Whether it has learned enough that what it foretells means something. */
  get isAdapted(): boolean {
    return this.#isAdapted;
  }

  /** What was foretold of the last block. */
  get foretold(): Float64Array {
    return this.#foretold;
  }

  /** Begins anew: another way. */
  reset(): void {
    this.#learning.fill(0);
    this.#known.fill(0);
    this.#shares.fill(1 / this.#partitions);
    this.#leak.reset();
    this.#duel.reset();
    this.#practice = 0;
    this.#isAdapted = false;
    this.#blocks = 0;
  }

  /**
   * Places the reference anew without forgetting the way: `samples` = that of the last `taps` and one more block.
   */
  replaceReference(samples: Float64Array): void {
    const partitions = this.#partitions;
    this.#newest = 0;
    for (let partition = 0; partition < partitions; partition++) {
      const from = samples.length - (partition + 2) * this.#block;
      this.#time.set(samples.subarray(from, from + 2 * this.#block));
      this.#spectrum.forward(this.#time, this.#references, partition * this.#spectrum.length);
    }
  }

  /**
   * Takes one block. `reference` = what was sent: the block before this one and this one; `heard` = what came back.
   * The result is in {@link rest}.
   */
  filter(reference: Float64Array, heard: Float64Array): void {
    const referenceEnergy = this.#pushReference(reference);
    this.#foretell(this.#known, this.#foretold);
    this.#foretell(this.#learning, this.#learned);
    const known = subtract(heard, this.#foretold, this.rest);
    const learned = this.#compare(heard, known);
    this.#noteError(heard, learned, referenceEnergy);
    this.#learn();
  }

  #pushReference(reference: Float64Array): number {
    this.#newest = (this.#newest + this.#partitions - 1) % this.#partitions;
    const at = this.#newest * this.#spectrum.length;
    this.#spectrum.forward(reference, this.#references, at);
    const smoothing = 0.35 / this.#partitions;
    for (let bin = 0; bin < this.#rates.length; bin++) {
      const re = this.#references[at + 2 * bin] as number;
      const im = this.#references[at + 2 * bin + 1] as number;
      const power = re * re + im * im;
      this.#power[bin] = (1 - smoothing) * (this.#power[bin] as number) + TINY + smoothing * power;
    }
    let energy = 0;
    for (let i = this.#block; i < 2 * this.#block; i++) energy += (reference[i] as number) * (reference[i] as number);
    return energy;
  }

  /** Corrects the learning filter by its error of this block. */
  #learn(): void {
    if (this.#blocks++ % SHARES_EVERY === 0) this.#weighShares();
    for (let partition = 0; partition < this.#partitions; partition++) {
      const at = ((this.#newest + partition) % this.#partitions) * this.#spectrum.length;
      const share = this.#shares[partition] as number;
      correct(this.#learning, partition * this.#spectrum.length, this.#references, at, this.#error, this.#rates, share);
    }
    this.#constrain(0);
    this.#constrained = (this.#constrained % (this.#partitions - 1)) + 1;
    this.#constrain(this.#constrained);
  }

  /** A filter of a block is as long as a block: what the correction wrote behind it is taken out. */
  #constrain(partition: number): void {
    this.#spectrum.inverse(this.#learning, this.#time, partition * this.#spectrum.length);
    this.#time.fill(0, this.#block);
    this.#spectrum.forward(this.#time, this.#learning, partition * this.#spectrum.length);
  }

  /** Parts of the way that are strong learn faster than those that are weak. */
  #weighShares(): void {
    let most = 0;
    let sum = 0;
    for (let partition = 0; partition < this.#partitions; partition++) {
      let energy = TINY / 1000;
      for (let i = partition * this.#spectrum.length; i < (partition + 1) * this.#spectrum.length; i++)
        energy += (this.#learning[i] as number) * (this.#learning[i] as number);
      this.#shares[partition] = Math.sqrt(energy);
      most = Math.max(most, this.#shares[partition] as number);
    }
    for (let partition = 0; partition < this.#partitions; partition++) {
      this.#shares[partition] = (this.#shares[partition] as number) + 0.1 * most;
      sum += this.#shares[partition] as number;
    }
    for (let partition = 0; partition < this.#partitions; partition++)
      this.#shares[partition] = (0.99 * (this.#shares[partition] as number)) / sum;
  }

  #foretell(weights: Float64Array, samples: Float64Array): void {
    const sum = this.#sum.fill(0);
    for (let partition = 0; partition < this.#partitions; partition++) {
      const at = ((this.#newest + partition) % this.#partitions) * this.#spectrum.length;
      addProduct(sum, weights, partition * this.#spectrum.length, this.#references, at);
    }
    this.#spectrum.inverse(sum, this.#time);
    samples.set(this.#time.subarray(this.#block));
  }

  /** Lets the better filter win; returns the energy of the learning one's error. */
  #compare(heard: Float64Array, known: number): number {
    let learned = 0;
    let apart = 0;
    for (let i = 0; i < this.#block; i++) {
      const error = (heard[i] as number) - (this.#learned[i] as number);
      const difference = (this.#foretold[i] as number) - (this.#learned[i] as number);
      learned += error * error;
      apart += difference * difference;
    }
    const winner = this.#duel.judge(known, learned, apart);
    if (winner === 'learning') this.#takeOver(heard);
    if (winner === 'known') {
      this.#learning.set(this.#known);
      this.#learned.set(this.#foretold);
      return known;
    }
    return learned;
  }

  #takeOver(heard: Float64Array): void {
    this.#known.set(this.#learning);
    for (let i = 0; i < this.#block; i++) {
      // Fades over, so that no step is heard.
      const share = (i + 0.5) / this.#block;
      const foretold = (1 - share) * (this.#foretold[i] as number) + share * (this.#learned[i] as number);
      this.rest[i] = (heard[i] as number) - foretold;
    }
  }

  /** Keeps the spectrum of the learning filter's error, and finds the rates at which it will learn from it. */
  #noteError(heard: Float64Array, learned: number, reference: number): void {
    const time = this.#time.fill(0);
    let echo = 0;
    let both = 0;
    for (let i = 0; i < this.#block; i++) {
      const foretold = this.#learned[i] as number;
      const error = (heard[i] as number) - foretold;
      time[this.#block + i] = error;
      echo += foretold * foretold;
      both += foretold * error;
    }
    this.#spectrum.forward(time, this.#error);
    time.fill(0, 0, this.#block);
    time.set(this.#learned, this.#block);
    const echoBins = this.#sum;
    this.#spectrum.forward(time, echoBins);
    this.#leak.note(this.#error, echoBins, echo, learned);
    this.#setRates(echoBins, { echo, learned, both, reference });
  }

  #setRates(
    echoBins: Float64Array,
    energies: { readonly echo: number; readonly learned: number; readonly both: number; readonly reference: number },
  ): void {
    const { echo, learned, both, reference } = energies;
    const leak = this.#leak.value;
    const rest = learned + TINY;
    if (!this.#isAdapted && this.#practice > this.#partitions && leak * echo > 0.03 * echo) this.#isAdapted = true;
    if (!this.#isAdapted) {
      const isLoud = reference > QUIET * this.#block;
      const rate = isLoud ? Math.min((FIRST_RATE * reference) / rest, FIRST_RATE) : 0;
      for (let bin = 0; bin < this.#rates.length; bin++) this.#rates[bin] = rate / ((this.#power[bin] as number) + 10);
      this.#practice += rate;
      return;
    }
    let share = (0.0001 * reference + 3 * leak * echo) / rest;
    share = Math.max(share, (both * both) / (1 + rest * echo));
    share = Math.min(share, RATE_MAX);
    for (let bin = 0; bin < this.#rates.length; bin++) {
      const error = powerOf(this.#error, bin) + TINY;
      const left = Math.min(leak * powerOf(echoBins, bin), RATE_MAX * error);
      const wanted = 0.7 * left + 0.3 * share * error;
      this.#rates[bin] = wanted / (error * ((this.#power[bin] as number) + 10));
    }
  }
}

/**
 * How much of the foretold echo is left over: the slope of the error's power over the echo's, as both change from block
 * to block (Valin 2007, section IV).
 */
class LeakEstimate {
  #value = 1;
  readonly #blockSeconds: number;
  readonly #errorMean: Float64Array;
  readonly #echoMean: Float64Array;
  #errorByEcho = 1;
  #echoByEcho = 1;

  constructor(bins: number, blockSeconds: number) {
    this.#blockSeconds = blockSeconds;
    this.#errorMean = new Float64Array(bins);
    this.#echoMean = new Float64Array(bins);
  }

  get value(): number {
    return this.#value;
  }

  reset(): void {
    this.#value = 1;
    this.#errorMean.fill(0);
    this.#echoMean.fill(0);
    this.#errorByEcho = 1;
    this.#echoByEcho = 1;
  }

  /** `error` and `echo` are spectra of one block; `echoEnergy` and `errorEnergy` theirs in samples. */
  note(error: Float64Array, echo: Float64Array, echoEnergy: number, errorEnergy: number): void {
    const average = this.#blockSeconds;
    let together = 0;
    let alone = 0;
    for (let bin = 0; bin < this.#errorMean.length; bin++) {
      const errorPower = powerOf(error, bin);
      const echoPower = powerOf(echo, bin);
      const errorChange = errorPower - (this.#errorMean[bin] as number);
      const echoChange = echoPower - (this.#echoMean[bin] as number);
      together += errorChange * echoChange;
      alone += echoChange * echoChange;
      this.#errorMean[bin] = (this.#errorMean[bin] as number) + average * errorChange;
      this.#echoMean[bin] = (this.#echoMean[bin] as number) + average * echoChange;
    }
    const scale = Math.sqrt(alone);
    if (scale === 0) return;
    // Where the echo is weak beside the error, the block says little.
    const share = Math.min((2 * average * echoEnergy) / (errorEnergy + TINY), 0.5 * average);
    this.#echoByEcho = Math.max((1 - share) * this.#echoByEcho + share * scale, TINY);
    const errorByEcho = (1 - share) * this.#errorByEcho + (share * together) / scale;
    this.#errorByEcho = Math.min(Math.max(errorByEcho, LEAK_MIN * this.#echoByEcho), this.#echoByEcho);
    this.#value = this.#errorByEcho / this.#echoByEcho;
  }
}

/** Which of two filters is better, judged over one block, some blocks and many. */
class Duel {
  readonly #gains = [0, 0];
  readonly #spreads = [0, 0];

  reset(): void {
    this.#gains.fill(0);
    this.#spreads.fill(0);
  }

  /** Energies of both errors, and of what lies between both outputs. Null = nobody is surely better. */
  judge(known: number, learned: number, apart: number): 'known' | 'learning' | null {
    const gain = known - learned;
    const spread = known * (apart + 10);
    for (const [index, average] of [0.4, 0.15].entries()) {
      this.#gains[index] = (1 - average) * (this.#gains[index] as number) + average * gain;
      this.#spreads[index] =
        (1 - average) * (1 - average) * (this.#spreads[index] as number) + average * average * spread;
    }
    const short = signedSquare(this.#gains[0] as number);
    const long = signedSquare(this.#gains[1] as number);
    const [shortSpread = 0, longSpread = 0] = this.#spreads;
    if (signedSquare(gain) > spread || short > 0.5 * shortSpread || long > 0.25 * longSpread) {
      this.reset();
      return 'learning';
    }
    if (-signedSquare(gain) > 4 * spread || -short > 4 * shortSpread || -long > 4 * longSpread) {
      this.reset();
      return 'known';
    }
    return null;
  }
}

function signedSquare(value: number): number {
  return value * Math.abs(value);
}

function subtract(heard: Float64Array, foretold: Float64Array, rest: Float64Array): number {
  let energy = 0;
  for (let i = 0; i < rest.length; i++) {
    const left = (heard[i] as number) - (foretold[i] as number);
    rest[i] = left;
    energy += left * left;
  }
  return energy;
}

function powerOf(bins: Float64Array, bin: number): number {
  const re = bins[2 * bin] as number;
  const im = bins[2 * bin + 1] as number;
  return re * re + im * im;
}

/** Adds the product of two spectra, bin by bin. */
function addProduct(sum: Float64Array, a: Float64Array, aFrom: number, b: Float64Array, bFrom: number): void {
  for (let i = 0; i < sum.length; i += 2) {
    const ar = a[aFrom + i] as number;
    const ai = a[aFrom + i + 1] as number;
    const br = b[bFrom + i] as number;
    const bi = b[bFrom + i + 1] as number;
    sum[i] = (sum[i] as number) + ar * br - ai * bi;
    sum[i + 1] = (sum[i + 1] as number) + ar * bi + ai * br;
  }
}

/** Adds to a part of the filter what the error says of it: the reference's conjugate times the error. */
function correct(
  weights: Float64Array,
  from: number,
  references: Float64Array,
  at: number,
  error: Float64Array,
  rates: Float64Array,
  share: number,
): void {
  for (let bin = 0, i = 0; bin < rates.length; bin++, i += 2) {
    const xr = references[at + i] as number;
    const xi = references[at + i + 1] as number;
    const er = error[i] as number;
    const ei = error[i + 1] as number;
    const rate = share * (rates[bin] as number);
    weights[from + i] = (weights[from + i] as number) + rate * (xr * er + xi * ei);
    weights[from + i + 1] = (weights[from + i + 1] as number) + rate * (xr * ei - xi * er);
  }
}

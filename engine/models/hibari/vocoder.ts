/**
 * The graph's spectra as sound. Each frame of 12.5 ms is the sum of three: pulses at the pitch, shaped; noise, shaped;
 * and a spectrum with a phase of its own. Frames overlap by three quarters and are added.
 */
import { type Complex, complexOf } from '../fft.ts';
import { RealFft } from '../real-fft.ts';
import type { GaussianNoise } from './gaussian.ts';
import { HOP_SAMPLES, PulseTrain } from './pulse-train.ts';
import { exponential, writePolar } from './tables.ts';

/** The outputs of the graph: each has 601 rows, the bins, of as many numbers as there are frames. */
export interface Spectra {
  /** Natural logarithm of the strength of the pulses, and their phase by {@link turnOf}. */
  readonly lh: Float32Array;
  readonly theta: Float32Array;
  /** Logarithm of the strength of the noise. */
  readonly ln: Float32Array;
  /** Logarithm of the strength of the third part, and its phase in radians. */
  readonly lr: Float32Array;
  readonly phi: Float32Array;
  /** Hz, one for each frame. */
  readonly f0: Float32Array;
}

/** Samples of one frame's transform, as twice the product of its radices. */
export const FFT_SAMPLES = 1200;
/** Bins of one frame. */
export const FFT_BINS = FFT_SAMPLES / 2 + 1;
/** For {@link RealFft}. */
export const FFT_RADICES = [5, 5, 4, 6] as const;
/** Frames that share the reading of a row. */
const BLOCK_FRAMES = 16;
const OVERLAP = FFT_SAMPLES / HOP_SAMPLES;
const EDGE_SAMPLES = FFT_SAMPLES / 2;
/** Stronger than this nothing gets: the reference's bound. */
const STRENGTH_MAX = 7;

const HANN = Float64Array.from(
  { length: FFT_SAMPLES },
  (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / FFT_SAMPLES),
);
/** With it a cosine of height 1 has strength 1 in its bin. */
const ANALYSIS = HANN.map((value) => value / (FFT_SAMPLES / 4));
/** A frame of nothing stronger than this, as a logarithm, is below one step of 16 bits. */
const INAUDIBLE = -7;

type FrameKind = 'voiced' | 'unvoiced' | 'silent';

/** What the overlapping windows of a sample add up to, where none is missing. */
const WINDOWS_SUM = 1.5;

/** Makes the sound of one run of the graph, a stretch at a time. */
export class Vocoder {
  readonly #spectra: Spectra;
  readonly #noise: GaussianNoise | null;
  readonly #frames: number;
  readonly #fft = new RealFft(FFT_RADICES);
  readonly #bins = complexOf(FFT_BINS);
  readonly #shapes = new FrameShapes();
  readonly #source: Source;
  /** Overlapped sound: what comes out begins {@link EDGE_SAMPLES} behind its start. */
  readonly #sum: Float64Array;
  /** Frames added to the sum so far. */
  #added = 0;
  #given = 0;

  /** @param noise null leaves the noise out, which only comparisons want. */
  constructor(spectra: Spectra, noise: GaussianNoise | null) {
    this.#spectra = spectra;
    this.#noise = noise;
    this.#frames = spectra.f0.length;
    this.#source = new Source(spectra.f0);
    this.#sum = new Float64Array((this.#frames + OVERLAP - 1) * HOP_SAMPLES);
  }

  /** Whether all has been given. */
  get isDone(): boolean {
    return this.#given === this.#frames * HOP_SAMPLES;
  }

  /** Adds about `frames` frames and gives the samples, mostly within ±1, that are finished by them. */
  next(frames: number): Float64Array {
    const end = Math.min(this.#added + frames, this.#frames);
    while (this.#added < end) this.#addBlock(Math.min(this.#added + BLOCK_FRAMES, end));
    const finished =
      this.#added === this.#frames ? this.#frames : Math.max(this.#added - EDGE_SAMPLES / HOP_SAMPLES, 0);
    const from = this.#given;
    this.#given = finished * HOP_SAMPLES;
    this.#level(from, this.#given);
    return this.#sum.subarray(from + EDGE_SAMPLES, this.#given + EDGE_SAMPLES);
  }

  #addBlock(end: number): void {
    const from = this.#added;
    this.#source.prepare(end);
    const kinds = Array.from({ length: end - from }, (_, index) => this.#kindOf(from + index));
    if (kinds.some((kind) => kind !== 'silent')) this.#shapes.read(this.#spectra, { from, kinds }, this.#noise);
    for (const [index, kind] of kinds.entries()) {
      const at = (from + index) * HOP_SAMPLES;
      if (kind === 'silent') continue;
      if (kind === 'voiced') {
        this.#fft.forward(this.#source.padded, at, ANALYSIS, this.#bins);
        this.#shapes.shape(index, this.#bins);
      } else this.#shapes.writeUnvoiced(index, this.#bins);
      this.#fft.inverse(this.#bins, HANN, this.#sum, at);
    }
    this.#added = end;
  }

  /** A quarter of a run is silence before and after its speech. */
  #kindOf(frame: number): FrameKind {
    if (this.#source.isVoiced(frame)) return 'voiced';
    const { ln, lr } = this.#spectra;
    for (let at = frame; at < ln.length; at += this.#frames)
      if ((ln[at] as number) > INAUDIBLE || (lr[at] as number) > INAUDIBLE) return 'unvoiced';
    return 'silent';
  }

  /** Divides finished samples by the sum of their windows, which is smaller at both ends. */
  #level(from: number, to: number): void {
    for (let at = from + EDGE_SAMPLES; at < to + EDGE_SAMPLES; at++) {
      const last = Math.floor(at / HOP_SAMPLES);
      const isWhole = last >= OVERLAP - 1 && last < this.#frames;
      this.#sum[at] = (this.#sum[at] as number) / (isWhole ? WINDOWS_SUM : this.#windowsAt(at));
    }
  }

  #windowsAt(at: number): number {
    const last = Math.floor(at / HOP_SAMPLES);
    let sum = 0;
    for (let frame = Math.max(last - OVERLAP + 1, 0); frame <= Math.min(last, this.#frames - 1); frame++)
      sum += (HANN[at - frame * HOP_SAMPLES] as number) ** 2;
    return Math.max(sum, 1e-11);
  }
}

/** The pulses of a run with their reflections at both ends, made as far as they are needed. */
class Source {
  /** Sample i is at `EDGE_SAMPLES + i`. */
  readonly padded: Float64Array;
  readonly #train: PulseTrain;
  readonly #isVoiced: boolean[] = [];
  readonly #frames: number;

  constructor(f0: Float32Array) {
    this.#train = new PulseTrain(f0);
    this.#frames = f0.length;
    this.padded = new Float64Array(f0.length * HOP_SAMPLES + FFT_SAMPLES);
  }

  /** Makes all that frames below `end` need. */
  prepare(end: number): void {
    const reach = EDGE_SAMPLES / HOP_SAMPLES + 1;
    const isStart = this.#isVoiced.length === 0;
    while (this.#isVoiced.length < Math.min(end + reach, this.#frames)) {
      const frame = this.#isVoiced.length;
      this.#isVoiced.push(this.#train.write(frame, this.padded, EDGE_SAMPLES + frame * HOP_SAMPLES));
    }
    const length = this.#frames * HOP_SAMPLES;
    if (isStart) for (let i = -EDGE_SAMPLES; i < 0; i++) this.#reflect(i, length);
    if (end + reach >= this.#frames) for (let i = length; i < length + EDGE_SAMPLES; i++) this.#reflect(i, length);
  }

  /** Whether anything of a frame's window is voiced. */
  isVoiced(frame: number): boolean {
    const reach = EDGE_SAMPLES / HOP_SAMPLES;
    return this.#isVoiced.slice(Math.max(frame - reach, 0), frame + reach + 1).includes(true);
  }

  #reflect(at: number, length: number): void {
    const period = 2 * (length - 1);
    const within = ((at % period) + period) % period;
    this.padded[EDGE_SAMPLES + at] = this.padded[EDGE_SAMPLES + Math.min(within, period - within)] as number;
  }
}

/** Factors and summands of the bins of some frames, read from the rows of the graph's outputs. */
class FrameShapes {
  readonly #factorRe = new Float32Array(BLOCK_FRAMES * FFT_BINS);
  readonly #factorIm = new Float32Array(BLOCK_FRAMES * FFT_BINS);
  readonly #addedRe = new Float32Array(BLOCK_FRAMES * FFT_BINS);
  readonly #addedIm = new Float32Array(BLOCK_FRAMES * FFT_BINS);
  readonly #normals = new Float32Array(2 * BLOCK_FRAMES);

  /** Reads the bins of some frames, the first of them `from`. */
  read(
    { lh, theta, ln, lr, phi, f0 }: Spectra,
    { from, kinds }: { from: number; kinds: readonly FrameKind[] },
    noise: GaussianNoise | null,
  ): void {
    const frames = f0.length;
    const end = from + kinds.length;
    const normals = this.#normals;
    for (let bin = 0; bin < FFT_BINS; bin++) {
      noise?.fill(normals);
      for (let frame = from; frame < end; frame++) {
        const at = bin * frames + frame;
        const index = frame - from;
        const to = index * FFT_BINS + bin;
        if (kinds[index] === 'voiced')
          writePolar(strength(lh[at] as number), turnOf(theta[at] as number), this.#factorRe, this.#factorIm, to);
        writePolar(strength(lr[at] as number), phi[at] as number, this.#addedRe, this.#addedIm, to);
        if (noise === null) continue;
        const hiss = strength(ln[at] as number);
        this.#addedRe[to] = (this.#addedRe[to] as number) + hiss * (normals[2 * index] as number);
        this.#addedIm[to] = (this.#addedIm[to] as number) + hiss * (normals[2 * index + 1] as number);
      }
    }
  }

  /** Makes of the pulses' spectrum in `bins` that of the whole frame, the `index`-th of those read. */
  shape(index: number, { re, im }: Complex): void {
    for (let bin = 0, at = index * FFT_BINS; bin < FFT_BINS; bin++, at++) {
      const sourceRe = re[bin] as number;
      const sourceIm = im[bin] as number;
      const factorRe = this.#factorRe[at] as number;
      const factorIm = this.#factorIm[at] as number;
      re[bin] = sourceRe * factorRe - sourceIm * factorIm + (this.#addedRe[at] as number);
      im[bin] = sourceRe * factorIm + sourceIm * factorRe + (this.#addedIm[at] as number);
    }
  }

  /** Writes the spectrum of a frame without pulses, the `index`-th of those read, to `bins`. */
  writeUnvoiced(index: number, { re, im }: Complex): void {
    re.set(this.#addedRe.subarray(index * FFT_BINS, (index + 1) * FFT_BINS));
    im.set(this.#addedIm.subarray(index * FFT_BINS, (index + 1) * FFT_BINS));
  }
}

function strength(logarithm: number): number {
  return exponential(logarithm < STRENGTH_MAX ? logarithm : STRENGTH_MAX);
}

/** pi tanh(x). */
function turnOf(x: number): number {
  if (x > 20) return Math.PI;
  return Math.PI - (2 * Math.PI) / (exponential(2 * x) + 1);
}

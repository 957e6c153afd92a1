/**
 * G.722 at 64 kbit/s (ITU-T G.722, 09/2012): two bands of 8 kHz that a quadrature mirror filter splits, each with an
 * ADPCM coder of its own, 6 bits a sample for the low one and 2 for the high one. One octet holds two samples of
 * 16 kHz. Names in comments are those of the blocks in the recommendation, which prescribes every rounding.
 */

/** Coefficients of the quadrature mirror filter (table 11): every other one; the rest are the same backwards. */
const QMF = Int32Array.of(3, -11, 12, 32, -210, 951, 3876, -805, 362, -156, 53, -11);
const QMF_TAPS = 24;

/** Decision levels of the low band's 6 bits, and its codes for differences below and above zero (tables 14 and 15). */
const Q6 = Int32Array.of(
  ...[0, 35, 72, 110, 150, 190, 233, 276, 323, 370, 422, 473, 530, 587, 650, 714, 786, 858, 940, 1023, 1121, 1219],
  ...[1339, 1458, 1612, 1765, 1980, 2195, 2557, 2919],
);
const ILN = Int32Array.from({ length: 31 }, (_, i) => (i < 3 ? 64 - i : 34 - i));
const ILP = Int32Array.from({ length: 31 }, (_, i) => 62 - i);

/** Inverse quantizers of 6, 4 and 2 bits (tables 16 to 18). */
const QM6_POSITIVE = [
  ...[24_808, 21_904, 19_008, 16_704, 14_984, 13_512, 12_280, 11_192, 10_232, 9360, 8576, 7856, 7192, 6576, 6000, 5456],
  ...[4944, 4464, 4008, 3576, 3168, 2776, 2400, 2032, 1688, 1360, 1040, 728],
];
const QM6 = Int32Array.of(
  ...[-136, -136, -136, -136],
  ...QM6_POSITIVE.map((level) => -level),
  ...QM6_POSITIVE,
  ...[432, 136, -432, -136],
);
const QM4_POSITIVE = [20_456, 12_896, 8968, 6288, 4240, 2584, 1200];
const QM4 = Int32Array.of(0, ...QM4_POSITIVE.map((level) => -level), ...QM4_POSITIVE, 0);
const QM2 = Int32Array.of(-7408, -1616, 7408, 1616);

/** How the scale factors adapt, by the code of a sample, and the logarithm's inverse (tables 13, 19 and 20). */
const LOW_STEPS = Int32Array.of(-60, 3042, 1198, 538, 334, 172, 58, -30, 3042, 1198, 538, 334, 172, 58, -30, -60);
const HIGH_STEPS = Int32Array.of(798, -214, 798, -214);
const ILB = Int32Array.from({ length: 32 }, (_, i) => Math.floor(2048 * 2 ** (i / 32) + 0.5));
const LOW_SCALE_MAX = 18_432;
const HIGH_SCALE_MAX = 22_528;
/** The level that parts the high band's two sizes. */
const Q2 = 564;

/** Taps of a band's zero section. */
const ZEROS = 6;

/** The two bands' samples lie within 15 bits (LIMIT). */
const BAND_MAX = 16_383;
const BAND_MIN = -16_384;

function saturate(value: number): number {
  if (value > 32_767) return 32_767;
  return value < -32_768 ? -32_768 : value;
}

/** One band's predictor and scale factor. Encoder and decoder keep the same ones. */
class Band {
  /** Prediction of the next sample. */
  s = 0;
  /** Scale factor, and its logarithm. */
  det: number;
  #nb = 0;
  /** Of the zero section alone. */
  #sz = 0;
  readonly #scaleMax: number;
  readonly #shift: number;
  /** The last reconstructed sample, and the signs of the last two partly reconstructed ones (0 or −1). */
  #r1 = 0;
  #sign1 = 0;
  #sign2 = 0;
  /** Coefficients of the pole section. */
  #a1 = 0;
  #a2 = 0;
  /** Coefficients of the zero section, and the last differences, the latest first. */
  readonly #b = new Int32Array(ZEROS);
  readonly #d = new Int32Array(ZEROS);

  constructor(options: { readonly det: number; readonly scaleMax: number; readonly shift: number }) {
    this.det = options.det;
    this.#scaleMax = options.scaleMax;
    this.#shift = options.shift;
  }

  /** Takes over the quantized difference `d` of a sample whose code moves the scale by `step`. */
  adapt(d: number, step: number): void {
    // LOGSCL and SCALEL, LOGSCH and SCALEH
    this.#nb = Math.min(Math.max(((this.#nb * 127) >> 7) + step, 0), this.#scaleMax);
    const mantissa = ILB[(this.#nb >> 6) & 31] as number;
    const shift = this.#shift - (this.#nb >> 11);
    this.det = (shift < 0 ? mantissa << -shift : mantissa >> shift) << 2;
    const r = saturate(this.s + d);
    this.#adaptPoles(saturate(this.#sz + d) >> 15);
    this.#sz = this.#filterZeros(d);
    // FILTEP and PREDIC
    const poles = ((this.#a1 * saturate(2 * r)) >> 15) + ((this.#a2 * saturate(2 * this.#r1)) >> 15);
    this.#r1 = r;
    this.s = saturate(saturate(poles) + this.#sz);
  }

  /** UPPOL2 and UPPOL1. */
  #adaptPoles(sign: number): void {
    const doubled = saturate(this.#a1 << 2);
    const turned = sign === this.#sign1 ? Math.min(-doubled, 32_767) : doubled;
    const second = (sign === this.#sign2 ? 128 : -128) + (turned >> 7) + ((this.#a2 * 32_512) >> 15);
    this.#a2 = Math.min(Math.max(second, -12_288), 12_288);
    const first = saturate((sign === this.#sign1 ? 192 : -192) + ((this.#a1 * 32_640) >> 15));
    const most = 15_360 - this.#a2;
    this.#a1 = Math.min(Math.max(first, -most), most);
    this.#sign2 = this.#sign1;
    this.#sign1 = sign;
  }

  /** UPZERO, DELAYA and FILTEZ. */
  #filterZeros(d: number): number {
    const [b, differences] = [this.#b, this.#d];
    const size = d === 0 ? 0 : 128;
    const sign = d >> 15;
    let sum = 0;
    for (let i = ZEROS - 1; i >= 0; i--) {
      const step = (differences[i] as number) >> 15 === sign ? size : -size;
      const coefficient = saturate(step + (((b[i] as number) * 32_640) >> 15));
      const difference = i === 0 ? d : (differences[i - 1] as number);
      b[i] = coefficient;
      differences[i] = difference;
      sum += (coefficient * saturate(2 * difference)) >> 15;
    }
    return saturate(sum);
  }
}

function bands(): { readonly low: Band; readonly high: Band } {
  return {
    low: new Band({ det: 32, scaleMax: LOW_SCALE_MAX, shift: 8 }),
    high: new Band({ det: 8, scaleMax: HIGH_SCALE_MAX, shift: 10 }),
  };
}

/** Both bands take over a sample by its codes. */
function adapt({ low, high }: ReturnType<typeof bands>, lowCode: number, highCode: number): void {
  low.adapt((low.det * (QM4[lowCode >> 2] as number)) >> 15, LOW_STEPS[lowCode >> 2] as number);
  high.adapt((high.det * (QM2[highCode] as number)) >> 15, HIGH_STEPS[highCode] as number);
}

/** What the filter has seen, and the sums over the even and the odd ones of its taps. */
class Filter {
  even = 0;
  odd = 0;
  /** Longer than the filter, so that they move only once in a while. */
  readonly #taps = new Int32Array(16 * QMF_TAPS);
  #end = QMF_TAPS;

  push(first: number, second: number): void {
    const taps = this.#taps;
    if (this.#end === taps.length) {
      taps.copyWithin(0, taps.length - QMF_TAPS);
      this.#end = QMF_TAPS;
    }
    taps[this.#end] = first;
    taps[this.#end + 1] = second;
    this.#end += 2;
    const from = this.#end - QMF_TAPS;
    let even = 0;
    let odd = 0;
    for (let i = 0; i < QMF_TAPS / 2; i++) {
      even += (taps[from + 2 * i] as number) * (QMF[i] as number);
      odd += (taps[from + 2 * i + 1] as number) * (QMF[QMF_TAPS / 2 - 1 - i] as number);
    }
    this.even = even;
    this.odd = odd;
  }
}

/** Decodes one stream of octets, in their order. Any octets are a stream. */
export class G722Decoder {
  readonly #bands = bands();
  readonly #filter = new Filter();

  /** Two samples of 16 kHz for each octet. */
  decode(bytes: Uint8Array): Int16Array {
    const { low, high } = this.#bands;
    const samples = new Int16Array(2 * bytes.length);
    for (let index = 0; index < bytes.length; index++) {
      const lowCode = (bytes[index] as number) & 0x3f;
      const highCode = (bytes[index] as number) >> 6;
      const rl = limit(low.s + ((low.det * (QM6[lowCode] as number)) >> 15));
      const rh = limit(high.s + ((high.det * (QM2[highCode] as number)) >> 15));
      adapt(this.#bands, lowCode, highCode);
      this.#filter.push(rl + rh, rl - rh);
      samples[2 * index] = saturate(this.#filter.odd >> 11);
      samples[2 * index + 1] = saturate(this.#filter.even >> 11);
    }
    return samples;
  }
}

function limit(value: number): number {
  return Math.min(Math.max(value, BAND_MIN), BAND_MAX);
}

/** Encodes one stream of samples, in their order. */
export class G722Encoder {
  readonly #bands = bands();
  readonly #filter = new Filter();

  /** One octet for each two samples of 16 kHz; an odd last one is left out. */
  encode(samples: Int16Array): Uint8Array {
    const { low, high } = this.#bands;
    const bytes = new Uint8Array(samples.length >> 1);
    for (let index = 0; index < bytes.length; index++) {
      this.#filter.push(samples[2 * index] as number, samples[2 * index + 1] as number);
      const { even, odd } = this.#filter;
      // The filter gains 4096, two are added, and the bands have 15 bits.
      const lowCode = quantizeLow(saturate(((even + odd) >> 14) - low.s), low.det);
      const highCode = quantizeHigh(saturate(((odd - even) >> 14) - high.s), high.det);
      adapt(this.#bands, lowCode, highCode);
      bytes[index] = (highCode << 6) | lowCode;
    }
    return bytes;
  }
}

/** QUANTL. */
function quantizeLow(difference: number, det: number): number {
  const size = difference >= 0 ? difference : -(difference + 1);
  let level = 1;
  while (level < 30 && size >= ((Q6[level] as number) * det) >> 12) level++;
  return (difference < 0 ? ILN : ILP)[level] as number;
}

/** QUANTH. */
function quantizeHigh(difference: number, det: number): number {
  const size = difference >= 0 ? difference : -(difference + 1);
  const isLarge = size >= (Q2 * det) >> 12;
  if (difference < 0) return isLarge ? 0 : 1;
  return isLarge ? 2 : 3;
}

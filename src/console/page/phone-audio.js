/**
 * The sound of a telephone line, as arithmetic: G.711 µ-law, conversion between the line's rate and the sound card's,
 * and what is still to be played. A browser could be asked for a context of 8000 Hz instead, but Firefox connects no
 * microphone to one.
 */

/** µ-law bytes, and so samples, in a second. */
export const LINE_RATE_HZ = 8000;
/** What one message of a carrier holds. */
export const FRAME_MS = 20;
export const FRAME_SAMPLES = (LINE_RATE_HZ * FRAME_MS) / 1000;

/** Sound is held back for so long after a pause, so that what comes late does not tear it. */
const JITTER_SAMPLES = (LINE_RATE_HZ * 60) / 1000;
/** Most that may wait to be played; a bridge keeps its lead far below. */
const HELD_MAX_BYTES = LINE_RATE_HZ * 60;
/** Where sound breaks off, its last sample fades by this factor each sample, or there would be a click. */
const FADE = 0.9;

// ITU-T G.711, µ-law

const BIAS = 132;
const CLIP = 32_635;

/** @param {number} byte @returns {number} −1 to 1 */
function expand(byte) {
  const inverted = ~byte & 0xff;
  const exponent = (inverted >> 4) & 7;
  const magnitude = ((((inverted & 15) << 3) + BIAS) << exponent) - BIAS;
  return (inverted & 0x80 ? -magnitude : magnitude) / 32_768;
}

const EXPANDED = Float32Array.from({ length: 256 }, (_unused, byte) => expand(byte));

/** @param {number} sample from −1 to 1, louder ones are clipped @returns {number} its µ-law byte */
export function encodeMulaw(sample) {
  const value = Math.round(sample * 32_768);
  const magnitude = Math.min(Math.abs(value), CLIP) + BIAS;
  const exponent = 24 - Math.clz32(magnitude);
  const mantissa = (magnitude >> (exponent + 3)) & 15;
  return ~((value < 0 ? 0x80 : 0) | (exponent << 4) | mantissa) & 0xff;
}

/** @param {number} byte @returns {number} the sample it stands for, −1 to 1 */
export function decodeMulaw(byte) {
  return EXPANDED[byte] ?? 0;
}

// Resampling: a polyphase filter, its prototype a sinc under a Kaiser window (Oppenheim & Schafer, Discrete-Time Signal
// Processing, §7.5 and §4.6)

const ATTENUATION_DB = 60;
const KAISER_BETA = 0.1102 * (ATTENUATION_DB - 8.7);
/**
 * Telephone speech ends at 3.4 kHz: 0.85 of the line's Nyquist frequency. Nothing above that frequency gets through.
 */
const PASS_EDGE = 0.85;

/** Modified Bessel function of the first kind, order 0. @param {number} x */
function besselI0(x) {
  let sum = 1;
  for (let k = 1, term = 1; term > 1e-9 * sum; k++) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}

/** @param {number} position −1 to 1 across the window */
function kaiser(position) {
  return Math.abs(position) >= 1 ? 0 : besselI0(KAISER_BETA * Math.sqrt(1 - position * position));
}

/** @param {number} x */
function sinc(x) {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

/** @param {number} a @param {number} b @returns {number} */
function greatestCommonDivisor(a, b) {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

/**
 * Coefficients for outputs that lie 0, 1/phases, 2/phases… of an input sample behind the middle tap, one row each,
 * every row with a sum of 1.
 * @param {number} ratio output rate / input rate @param {number} phases
 */
function designFilter(ratio, phases) {
  const bandwidth = Math.min(1, ratio);
  const cutoff = (bandwidth * (PASS_EDGE + 1)) / 2;
  const half = Math.ceil((ATTENUATION_DB - 7.95) / (2.285 * Math.PI * bandwidth * (1 - PASS_EDGE)) / 2);
  const taps = 2 * half;
  const rows = new Float32Array(phases * taps);
  for (let phase = 0; phase < phases; phase++) {
    const row = rows.subarray(phase * taps, (phase + 1) * taps);
    for (let tap = 0; tap < taps; tap++) {
      const distance = tap - (half - 1) - phase / phases;
      row[tap] = sinc(cutoff * distance) * kaiser(distance / half);
    }
    const gain = row.reduce((sum, value) => sum + value, 0);
    for (let tap = 0; tap < taps; tap++) row[tap] = (row[tap] ?? 0) / gain;
  }
  return { taps, rows };
}

/** Converts one stream from one rate to another, a sample at a time. */
export class Resampler {
  #phases;
  #step;
  #taps;
  #rows;
  /** The latest inputs, twice one behind the other, so that they can always be read in one stretch. */
  #history;
  #newest = 0;
  /** When the next output is due, in phases after the latest input. */
  #due = 0;

  /** @param {number} fromHz @param {number} toHz both whole */
  constructor(fromHz, toHz) {
    const divisor = greatestCommonDivisor(fromHz, toHz);
    this.#phases = toHz / divisor;
    this.#step = fromHz / divisor;
    const { taps, rows } = designFilter(toHz / fromHz, this.#phases);
    this.#taps = taps;
    this.#rows = rows;
    this.#history = new Float32Array(2 * taps);
  }

  /** @param {number} sample @param {(sample: number) => void} emit called for each output that `sample` completes */
  push(sample, emit) {
    this.#newest = (this.#newest + 1) % this.#taps;
    this.#history[this.#newest] = sample;
    this.#history[this.#newest + this.#taps] = sample;
    for (; this.#due < this.#phases; this.#due += this.#step) emit(this.#output(this.#due));
    this.#due -= this.#phases;
  }

  /** @param {number} phase */
  #output(phase) {
    const from = this.#newest + 1;
    const row = phase * this.#taps;
    let sum = 0;
    for (let tap = 0; tap < this.#taps; tap++) sum += (this.#history[from + tap] ?? 0) * (this.#rows[row + tap] ?? 0);
    return sum;
  }
}

/**
 * What the server sent and what of it is still to be played, in order: sound, and marks that are due when all sound
 * before them was played. It keeps to what Twilio does:
 * https://www.twilio.com/docs/voice/media-streams/websocket-messages
 */
export class Player {
  /** Sound as µ-law bytes, marks as their names. @type {(Uint8Array | string)[]} */
  #queue = [];
  /** How much of the first of the queue has been played. */
  #offset = 0;
  #heldBytes = 0;
  /** Samples until waiting sound is begun. */
  #delay = 0;
  #playing = false;
  #last = 0;
  /** @type {(name: string) => void} */
  #onMark;

  /** @param {(name: string) => void} onMark a mark's turn has come, or it was cleared */
  constructor(onMark) {
    this.#onMark = onMark;
  }

  /** Whether sound is being played now. */
  get playing() {
    return this.#playing;
  }

  /**
   * Sound to be played after all that waits. @param {Uint8Array} bytes @returns {boolean} false when too much waits: it
   * is not taken
   */
  add(bytes) {
    if (this.#heldBytes + bytes.length > HELD_MAX_BYTES) return false;
    if (bytes.length === 0) return true;
    if (this.#heldBytes === 0 && !this.#playing) this.#delay = JITTER_SAMPLES;
    this.#queue.push(bytes);
    this.#heldBytes += bytes.length;
    return true;
  }

  /** @param {string} name */
  mark(name) {
    this.#queue.push(name);
    this.#passMarks();
  }

  /** Plays nothing of what waits; its marks are due at once. */
  clear() {
    const marks = this.#queue.filter((item) => typeof item === 'string');
    this.#queue = [];
    this.#offset = 0;
    this.#heldBytes = 0;
    for (const name of marks) this.#onMark(name);
  }

  /** The next sample at the line's rate. @returns {number} */
  next() {
    const [sound] = this.#queue;
    if (typeof sound !== 'object' || this.#delay > 0) return this.#rest();
    this.#playing = true;
    this.#last = decodeMulaw(sound[this.#offset] ?? 0xff);
    this.#offset += 1;
    this.#heldBytes -= 1;
    if (this.#offset < sound.length) return this.#last;
    this.#offset = 0;
    this.#queue.shift();
    this.#passMarks();
    return this.#last;
  }

  #rest() {
    if (this.#delay > 0) this.#delay -= 1;
    this.#playing = false;
    this.#last *= FADE;
    return this.#last;
  }

  #passMarks() {
    for (let [first] = this.#queue; typeof first === 'string'; [first] = this.#queue) {
      this.#queue.shift();
      this.#onMark(first);
    }
  }
}

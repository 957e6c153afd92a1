/**
 * What was sent to the caller, placed in the time of what comes back, so that a stretch of the one can be laid beside a
 * stretch of the other. Places that nobody filled are silent.
 */
export class SentSound {
  /** Sample n is at n % length. */
  readonly #samples: Float64Array;
  /** Behind the last sample that was placed. */
  #end = 0;

  /** Keeps the last `samples`. */
  constructor(samples: number) {
    this.#samples = new Float64Array(samples);
  }

  /** Behind the last sample placed so far; 0 before the first. */
  get end(): number {
    return this.#end;
  }

  /** Places `samples` from sample number `at` on; what was there is replaced. */
  place(samples: Int16Array, at: number): void {
    this.#silenceTo(at);
    for (let i = Math.max(0, -at); i < samples.length; i++) this.#samples[this.#index(at + i)] = samples[i] as number;
    this.#end = Math.max(this.#end, at + samples.length);
  }

  /** Nothing sounds from sample number `at` on. */
  cut(at: number): void {
    for (let n = Math.max(at, this.#end - this.#samples.length); n < this.#end; n++) this.#samples[this.#index(n)] = 0;
    this.#end = Math.min(this.#end, Math.max(at, 0));
  }

  /** Fills `to` with the samples from number `from` on. */
  read(from: number, to: Float64Array): void {
    const oldest = Math.max(0, this.#end - this.#samples.length);
    for (let i = 0; i < to.length; i++) {
      const n = from + i;
      to[i] = n < oldest || n >= this.#end ? 0 : (this.#samples[this.#index(n)] as number);
    }
  }

  #silenceTo(at: number): void {
    if (at <= this.#end) return;
    const from = Math.max(this.#end, at - this.#samples.length);
    for (let n = from; n < at; n++) this.#samples[this.#index(n)] = 0;
    this.#end = at;
  }

  #index(n: number): number {
    return n % this.#samples.length;
  }
}

import type { SoundChannel } from '../../calls/sound/sound-tap.ts';
import { msToSamples } from '../../foundation/units.ts';
import type { SoundStretch } from './sound-writer.ts';

/** A stretch goes on where the next samples are placed within this of its end: times are estimates, sound is not. */
const JOINED_WITHIN_MS = 60;

/** The sound of one channel that was not given to the disk yet, as stretches without gaps. */
export class ChannelBuffer {
  readonly #kind: SoundChannel;
  readonly #rateHz: number;
  readonly #capacity: number;
  #stretches: SoundStretch[] = [];
  #samples: Int16Array;
  #length = 0;
  #startSample = 0;

  /** `spanMs` = the longest stretch. */
  constructor(kind: SoundChannel, rateHz: number, spanMs: number) {
    this.#kind = kind;
    this.#rateHz = rateHz;
    this.#capacity = msToSamples(spanMs, rateHz);
    this.#samples = new Int16Array(this.#capacity);
  }

  /** Adds samples that begin at `atMs` of the call. */
  add(samples: Int16Array, atMs: number): void {
    const placed = msToSamples(atMs, this.#rateHz);
    const next = this.#startSample + this.#length;
    const isJoined = Math.abs(placed - next) <= msToSamples(JOINED_WITHIN_MS, this.#rateHz);
    if (!isJoined) this.#begin(placed);
    for (let from = 0; from < samples.length; ) {
      if (this.#length === this.#capacity) this.#begin(this.#startSample + this.#length);
      const part = samples.subarray(from, from + this.#capacity - this.#length);
      this.#samples.set(part, this.#length);
      this.#length += part.length;
      from += part.length;
    }
  }

  /** Takes out all stretches. */
  take(): SoundStretch[] {
    this.#begin(this.#startSample + this.#length);
    return this.#stretches.splice(0);
  }

  #begin(startSample: number): void {
    if (this.#length > 0) {
      this.#stretches.push({ kind: this.#kind, startSample: this.#startSample, samples: this.#handOver() });
      this.#length = 0;
    }
    this.#startSample = startSample;
  }

  /** Its own buffer: buffers are moved to the thread. A short stretch leaves the large one here. */
  #handOver(): Int16Array {
    if (this.#length < this.#capacity / 2) return this.#samples.slice(0, this.#length);
    const samples = this.#samples.subarray(0, this.#length);
    this.#samples = new Int16Array(this.#capacity);
    return samples;
  }
}

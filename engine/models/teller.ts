import type { Sound } from './model.ts';
import { joinSamples } from './sound.ts';

/** How a sound begins. */
interface TellerOptions {
  readonly rateHz: number;
  /** What is told first lasts at least so long. */
  readonly firstMs: number;
}

/** Tells of a sound as it is made, in stretches of which the first is not too short to wait behind. */
export class Teller {
  readonly #tell: (sound: Sound) => void;
  readonly #rateHz: number;
  readonly #firstSamples: number;
  /** What was made before the first was told. */
  #held: Int16Array = new Int16Array(0);
  #hasTold = false;

  constructor(tell: (sound: Sound) => void, { rateHz, firstMs }: TellerOptions) {
    this.#tell = tell;
    this.#rateHz = rateHz;
    this.#firstSamples = Math.round((firstMs * rateHz) / 1000);
  }

  /** Whether the sound has begun. */
  get hasTold(): boolean {
    return this.#hasTold;
  }

  /** So much more was made, perhaps nothing. */
  push(samples: Int16Array): void {
    if (samples.length === 0) return;
    const news = this.#hasTold ? samples : joinSamples([this.#held, samples]);
    if (!this.#hasTold && news.length < this.#firstSamples) {
      this.#held = news;
      return;
    }
    this.#hasTold = true;
    this.#held = new Int16Array(0);
    this.#tell({ samples: news, rateHz: this.#rateHz });
  }

  /** All that was not told, `rest` being the end. */
  end(rest: Int16Array): Int16Array {
    return this.#held.length === 0 ? rest : joinSamples([this.#held, rest]);
  }
}

/** Where speech is cut that is too long for one utterance. */
import { ENGINE_RATE_HZ, VAD_WINDOW_SAMPLES } from '../../engine/contract.ts';
import { msToSamples } from '../foundation/units.ts';
import type { EndpointerSettings } from './endpointer.ts';
import type { SampleRing } from './sample-ring.ts';
import { cutSearch, loudnesses, QUIET_SAMPLES, quietestPoint, type WindowSettings } from './windows.ts';

const samples = (durationMs: number): number => msToSamples(durationMs, ENGINE_RATE_HZ);

/** A place is looked for from so long before the utterance is too long; what came before that says what is quiet. */
const SEARCH_SAMPLES = samples(2000);
const MEASURED_SAMPLES = samples(3000);
/** Of the places there, so many are quiet enough in the end; in the beginning only the quietest is. */
const QUIET_SHARE_MAX = 0.15;
/** When there was none, the quietest of this last stretch is taken: words at its beginning wait no longer than that. */
const LAST_MS = 800;

/** What one window may have made a quiet place of: one that ends in it, or right before it. */
const NEWEST_SAMPLES = QUIET_SAMPLES + 2 * VAD_WINDOW_SAMPLES;

interface ForcedCutOptions {
  readonly settings: Pick<WindowSettings & EndpointerSettings, 'MAX_UTTERANCE_MS' | 'VAD_STOP_THRESHOLD'>;
  readonly audio: Pick<SampleRing, 'slice'>;
  /** The detector's probability (0–1) of the window that holds a sample. */
  probabilityAt(sample: number): number;
}

/**
 * Looks for the place at which a long utterance is cut, while it is spoken: the first one that is as quiet as places
 * between words were before it, and behind which speech goes on, so that it is no end. The words before it need not
 * wait until it is certain that no place is quieter.
 */
export class ForcedCut {
  readonly #options: ForcedCutOptions;
  readonly #max: number;
  readonly #search: number;
  /** Of the utterance that begins there: how loud its places were, the quietest first. */
  #measured: { readonly from: number; readonly loudness: Float64Array } | null = null;

  constructor(options: ForcedCutOptions) {
    this.#options = options;
    this.#max = samples(options.settings.MAX_UTTERANCE_MS);
    this.#search = Math.min(SEARCH_SAMPLES, Math.floor(this.#max / 4));
  }

  /**
   * Where to cut the utterance that begins at sample number `from` and is examined up to `detectedTo`; null = not yet.
   * To be asked after each window.
   */
  find(from: number, detectedTo: number): number | null {
    const searched = detectedTo - from - (this.#max - this.#search);
    if (searched < 0) return null;
    const last = cutSearch({ from, detectedTo, step: VAD_WINDOW_SAMPLES }, this.#options.settings, LAST_MS);
    if (last !== null) return this.#quietest(last.from, last.to);
    if (this.#options.probabilityAt(detectedTo - 1) < this.#options.settings.VAD_STOP_THRESHOLD) return null;
    const share = (QUIET_SHARE_MAX * searched) / this.#search;
    const { loudness } = this.#measure(from, detectedTo);
    const quiet = loudness[Math.floor(share * loudness.length)] ?? 0;
    const newest = Math.max(detectedTo - NEWEST_SAMPLES, from);
    const least = Math.min(...this.#loudness(newest, detectedTo));
    return least <= quiet ? this.#quietest(newest, detectedTo) : null;
  }

  #measure(from: number, detectedTo: number): { readonly loudness: Float64Array } {
    if (this.#measured?.from !== from) {
      const begin = Math.max(detectedTo - MEASURED_SAMPLES, from);
      this.#measured = { from, loudness: this.#loudness(begin, detectedTo).sort() };
    }
    return this.#measured;
  }

  #loudness(from: number, to: number): Float64Array {
    const { audio, probabilityAt } = this.#options;
    return loudnesses(audio.slice(from, to), (offset) => probabilityAt(from + offset));
  }

  #quietest(from: number, to: number): number {
    const { audio, probabilityAt } = this.#options;
    return from + quietestPoint(audio.slice(from, to), (offset) => probabilityAt(from + offset));
  }
}

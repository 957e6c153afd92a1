/**
 * What was computed of the beginnings of utterances that are still going on, so that the next window costs only what
 * is new in it. Nothing depends on it: what was forgotten is computed again, with the same result.
 */
import { LRUCache } from 'lru-cache';

/** Memory for all utterances together, and how long one is kept that nobody asks for. */
const MEMORY_BYTES = 134_217_728;
const IDLE_MS = 10_000;

/** What was computed of the beginning of an utterance: of so many samples, and how much memory that takes. */
interface Beginning {
  readonly samples: number;
  readonly bytes: number;
}

interface Kept<Heard> {
  /** What was heard, to be compared with what comes under the same number. */
  readonly samples: Int16Array;
  readonly heard: Heard;
}

/** Forgets the utterance that was used the longest ago when there are too many, and each when it is idle. */
export class HearingMemory<Heard extends Beginning> {
  readonly #kept = new LRUCache<number, Kept<Heard>>({
    maxSize: MEMORY_BYTES,
    sizeCalculation: ({ samples, heard }) => samples.byteLength + heard.bytes,
    ttl: IDLE_MS,
    ttlAutopurge: true,
    updateAgeOnGet: true,
  });

  /** What is known of the beginning of `samples`; null where nothing is, or where they begin otherwise. */
  find(stream: number, samples: Int16Array): Heard | null {
    const kept = this.#kept.get(stream);
    if (kept === undefined || kept.samples.length > samples.length) return null;
    const beginning = samples.subarray(0, kept.samples.length);
    return bytesOf(beginning).equals(bytesOf(kept.samples)) ? kept.heard : null;
  }

  /** Keeps what was heard of the beginning of `samples`. */
  keep(stream: number, samples: Int16Array, heard: Heard): void {
    this.#kept.set(stream, { samples: samples.slice(0, heard.samples), heard });
  }
}

function bytesOf({ buffer, byteOffset, byteLength }: Int16Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** Decodes recordings of prompts, and makes them as loud as everything else, in threads. */
import type { Clock } from '../foundation/clock.ts';
import { TrunklineError } from '../foundation/errors.ts';
import { packagePath } from '../foundation/folders/paths.ts';
import { WorkerPool, WorkLostError } from '../foundation/workers/worker-pool.ts';

/** Recordings decoded at once, and what the threads may take beside the samples. */
const THREADS_MAX = 2;
const THREAD_HEAP_MB = 64;

/** A recording, mono. */
export interface MonoAudio {
  readonly samples: Int16Array;
  readonly rateHz: number;
}

/** The threads; they end when they have no work. */
export class WavLeveller {
  readonly #pool: WorkerPool<Uint8Array, MonoAudio>;

  constructor(clock: Clock) {
    this.#pool = new WorkerPool({
      program: packagePath('dist', 'src', 'speech', 'wav-worker.js'),
      threadsMax: THREADS_MAX,
      heapMb: THREAD_HEAP_MB,
      clock,
    });
  }

  /**
   * The sound of a WAV file, all channels mixed. `bytes` are given away.
   * @throws TrunklineError `invalid_request` for bytes that are no WAV file; the reason of `signal`
   */
  async level(bytes: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<MonoAudio> {
    const work = this.#pool.open(bytes, [bytes.buffer]);
    try {
      return await work.next(signal);
    } catch (error) {
      if (error instanceof WorkLostError)
        throw new TrunklineError('invalid_request', 'the recording cannot be used: its decoder gave up on it');
      throw error;
    } finally {
      work.close();
    }
  }
}

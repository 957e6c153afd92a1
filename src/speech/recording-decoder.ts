/** Decodes recordings in threads: one channel, as loud as everything else, on request without silence around it. */
import type { Clock } from '../foundation/clock.ts';
import { TrunklineError } from '../foundation/errors.ts';
import { packagePath } from '../foundation/folders/paths.ts';
import { WorkerPool, WorkLostError } from '../foundation/workers/worker-pool.ts';
import type { MonoAudio } from './wav-leveller.ts';

/** Decoded at once, and what a thread may take beside the samples. */
const THREADS_MAX = 2;
const THREAD_HEAP_MB = 64;

/** A file to decode. */
export interface RecordingTask {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly maxSeconds: number;
  /** Prompts begin at once; what is played has its pauses where its author put them. */
  readonly silenceAround: 'cut' | 'kept';
}

/** A step of a thread; null = the file goes on. */
export interface DecodedRecording {
  readonly sound: MonoAudio | null;
}

/** The threads; they end when they have no work. */
export class RecordingDecoder {
  readonly #pool: WorkerPool<RecordingTask, DecodedRecording>;

  constructor(clock: Clock) {
    this.#pool = new WorkerPool({
      program: packagePath('dist', 'src', 'speech', 'recording-worker.js'),
      threadsMax: THREADS_MAX,
      heapMb: THREAD_HEAP_MB,
      clock,
    });
  }

  /**
   * The sound of a WAV, MP3, FLAC or Ogg file of at most `maxSeconds`, at 16 kHz or less. Its bytes are given away.
   * @throws TrunklineError `audio_unreadable`, `audio_too_long`; the reason of `signal`
   */
  async decode(task: RecordingTask, signal: AbortSignal): Promise<MonoAudio> {
    const work = this.#pool.open(task, [task.bytes.buffer]);
    try {
      for (;;) {
        const { sound } = await work.next(signal);
        if (sound !== null) return sound;
      }
    } catch (error) {
      if (error instanceof WorkLostError)
        throw new TrunklineError('audio_unreadable', 'the recording cannot be used: its decoder gave up on it');
      throw error;
    } finally {
      work.close();
    }
  }
}

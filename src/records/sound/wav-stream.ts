/** The WAV file of a call's sound, made on another thread as it is asked for. */
import type { PoolWork, WorkerPool } from '../../foundation/workers/worker-pool.ts';
import type { ReadingAnswer, ReadingTask } from './sound-messages.ts';
import type { ByteRange } from './wav-view.ts';

/** Bytes of a WAV file. Whoever has it must iterate over `bytes`, or close it. */
export interface WavStream {
  /** The length of the whole file. */
  readonly totalBytes: number;
  /** The bytes that come; null = the file has none of what was wanted. */
  readonly range: ByteRange | null;
  /** @throws TrunklineError `sound_damaged` */
  readonly bytes: AsyncGenerator<Uint8Array, void, undefined>;
  close(): void;
}

interface OpenOptions {
  /** Ends the stream. */
  readonly signal: AbortSignal;
  /** Called once, when the file is closed. */
  onEnd(): void;
}

/** Opens the file of `task`. @throws TrunklineError `sound_locked`, `sound_damaged` */
export async function openWav(
  pool: WorkerPool<ReadingTask, ReadingAnswer>,
  task: ReadingTask,
  { signal, onEnd }: OpenOptions,
): Promise<WavStream> {
  const work = endingOnce(pool.open(task), signal, onEnd);
  try {
    const extent = await work.next(signal);
    if (extent.kind !== 'extent') throw new Error(`got ${extent.kind} of a file of sound, expected its extent`);
    const { totalBytes, range } = extent;
    return { totalBytes, range, bytes: bytesOf(work, signal), close: () => work.close() };
  } catch (error) {
    work.close();
    throw error;
  }
}

/** Also where nobody closes it: whoever asked may go before the first byte. */
function endingOnce<T>(work: PoolWork<T>, signal: AbortSignal, onEnd: () => void): PoolWork<T> {
  let isOver = false;
  const close = (): void => {
    if (isOver) return;
    isOver = true;
    signal.removeEventListener('abort', close);
    work.close();
    onEnd();
  };
  signal.addEventListener('abort', close);
  if (signal.aborted) close();
  return { next: (asked) => work.next(asked), close };
}

async function* bytesOf(
  work: PoolWork<ReadingAnswer>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for (;;) {
      const answer = await work.next(signal);
      if (answer.kind !== 'bytes') return;
      yield answer.bytes;
    }
  } finally {
    work.close();
  }
}

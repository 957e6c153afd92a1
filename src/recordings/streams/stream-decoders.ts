/** Decodes streams while they come, outside of the server's main thread. */
import type { Clock } from '../../foundation/clock.ts';
import { packagePath } from '../../foundation/folders/paths.ts';
import { coresAvailable } from '../../foundation/machine/cores.ts';
import { type PoolWork, WorkerPool } from '../../foundation/workers/worker-pool.ts';
import type { ChannelMode } from '../decode-messages.ts';
import { StreamConversion } from './stream-conversion.ts';
import type { OnStreamSound, StreamDecoding } from './stream-decoding.ts';
import type { StreamKind } from './stream-kind.ts';
import type { StreamAnswer, StreamPiece, StreamTask } from './stream-messages.ts';

const THREAD_HEAP_MB = 128;

interface StreamDecodersOptions {
  /** FFMPEG_TIMEOUT_MS. */
  readonly ffmpegTimeoutMs: number;
  readonly clock: Clock;
}

interface StreamRequest {
  readonly kind: StreamKind;
  readonly channels: ChannelMode;
  readonly onSound: OnStreamSound;
}

/**
 * Decodes the streams of one server: with a few threads of their own, so that no recording delays them, and with an
 * ffmpeg for each stream that these cannot read.
 */
export class StreamDecoders {
  readonly #options: StreamDecodersOptions;
  readonly #pool: WorkerPool<StreamTask, StreamAnswer, StreamPiece>;

  constructor(options: StreamDecodersOptions) {
    const program = packagePath('dist', 'src', 'recordings', 'streams', 'stream-worker.js');
    const threadsMax = Math.max(2, Math.floor(coresAvailable() / 2));
    this.#options = options;
    this.#pool = new WorkerPool({ program, threadsMax, heapMb: THREAD_HEAP_MB, clock: options.clock });
  }

  /** Begins a stream, which its owner ends or closes. */
  open({ kind, channels, onSound }: StreamRequest): StreamDecoding {
    const { clock, ffmpegTimeoutMs: timeoutMs } = this.#options;
    if ('ffmpeg' in kind) return new StreamConversion({ kind, channels, onSound, clock, timeoutMs });
    return new ThreadDecoding(this.#pool.open({ kind: kind.decoder, channels }), onSound);
  }

  /** Ends the threads as soon as no stream needs them. */
  close(): void {
    this.#pool.close();
  }
}

class ThreadDecoding implements StreamDecoding {
  readonly #work: PoolWork<StreamAnswer, StreamPiece>;
  readonly #onSound: OnStreamSound;
  readonly #stop = new AbortController();

  constructor(work: PoolWork<StreamAnswer, StreamPiece>, onSound: OnStreamSound) {
    this.#work = work;
    this.#onSound = onSound;
  }

  push(bytes: Uint8Array): Promise<void> {
    return this.#decode(bytes, false);
  }

  async end(): Promise<void> {
    await this.#decode(new Uint8Array(0), true);
    this.#work.close();
  }

  close(): void {
    this.#stop.abort(new Error('the stream was closed'));
    this.#work.close();
  }

  async #decode(bytes: Uint8Array, isLast: boolean): Promise<void> {
    // Copied: with a view all of the message would be sent to the thread.
    let piece: StreamPiece | undefined = { bytes: new Uint8Array(bytes), isLast };
    for (;;) {
      const { channels, isAll } = await this.#work.next(this.#stop.signal, piece);
      piece = undefined;
      if ((channels[0]?.length ?? 0) > 0) await this.#onSound(channels);
      if (isAll) return;
    }
  }
}

/** Decodes files to 16 kHz audio, a few seconds at a time, outside of the server's main thread. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { detectAudio } from '../audio/detect.ts';
import type { Clock } from '../foundation/clock.ts';
import { packagePath } from '../foundation/folders/paths.ts';
import { coresAvailable } from '../foundation/machine/cores.ts';
import { WorkerPool, WorkLostError } from '../foundation/workers/worker-pool.ts';
import type { DecodeAnswer, DecodedStretch, DecodeTask } from './decode-messages.ts';
import type { RecordingDisk } from './disk.ts';
import { convertWithFfmpeg } from './ffmpeg.ts';
import { readHead } from './head.ts';
import { unreadable } from './refusals.ts';
import { Turns } from './turns.ts';

const THREAD_HEAP_MB = 128;
/** Most starts of one file: files share threads, and a file begins again if another file has killed its thread. */
const BEGINNINGS_MAX = 5;

interface DecodersOptions {
  /** Counts the disk of ffmpeg's output. */
  readonly disk: RecordingDisk;
  /** FFMPEG_TIMEOUT_MS. */
  readonly ffmpegTimeoutMs: number;
  readonly clock: Clock;
}

/** A file to decode. */
export interface DecodeRequest extends Omit<DecodeTask, 'kind'> {
  /** Tenants take turns. */
  readonly tenant: string;
  /** Folder for ffmpeg's output, if the file needs ffmpeg. */
  readonly workFolder: string;
  /** Ends the decoding at once. */
  readonly signal: AbortSignal;
}

/**
 * Decodes the files of one server with a few threads and a few ffmpeg processes. It uses at most half of the cores,
 * because engines and live calls need the others, and at least two, so that a slow file does not delay all others.
 */
export class FileDecoders {
  readonly #options: DecodersOptions;
  readonly #pool: WorkerPool<DecodeTask, DecodeAnswer>;
  readonly #conversions: Turns;

  constructor(options: DecodersOptions) {
    const most = Math.max(2, Math.floor(coresAvailable() / 2));
    const program = packagePath('dist', 'src', 'recordings', 'decode-worker.js');
    this.#options = options;
    this.#pool = new WorkerPool({ program, threadsMax: most, heapMb: THREAD_HEAP_MB, clock: options.clock });
    this.#conversions = new Turns(most);
  }

  /** Threads that are decoding. */
  get threads(): number {
    return this.#pool.threads;
  }

  /**
   * The audio of the file at `path`, in pieces of some seconds, decoded on demand. When the iteration ends or is left,
   * nothing of the file remains in a thread or in `workFolder`.
   * @throws TrunklineError `audio_unreadable`, `audio_too_long` or `upload_disk_full`
   */
  async *decode(request: DecodeRequest): AsyncGenerator<DecodedStretch, void, void> {
    const { path, channels, channelsMax, maxSeconds, tenant, workFolder, signal } = request;
    const task = { path, channels, channelsMax, maxSeconds };
    const head = await readHead(path);
    if (head.length === 0) throw unreadable('it is empty');
    const kind = detectAudio(head);
    if (kind === 'text') throw unreadable('it contains text, expected audio');
    if (kind !== 'other') {
      yield* this.#decodeInThread({ ...task, kind }, signal);
      return;
    }
    const { disk, ffmpegTimeoutMs: timeoutMs, clock } = this.#options;
    const converted = join(workFolder, `trunkline-${randomUUID()}.wav`);
    try {
      const conversion = { ...task, from: path, to: converted, disk, timeoutMs, clock, signal };
      await this.#conversions.take(tenant, signal, () => convertWithFfmpeg(conversion));
      yield* this.#decodeInThread({ ...task, path: converted, kind: 'wav' }, signal);
    } finally {
      await disk.remove(converted);
    }
  }

  async *#decodeInThread(task: DecodeTask, signal: AbortSignal): AsyncGenerator<DecodedStretch, void, void> {
    let handed = 0;
    for (let beginnings = 1; ; beginnings++) {
      try {
        for await (const stretch of this.#decodeFrom(task, handed, signal)) {
          handed++;
          yield stretch;
        }
        return;
      } catch (error) {
        if (!(error instanceof WorkLostError)) throw error;
        if (error.isCause || beginnings === BEGINNINGS_MAX) throw unreadable('the decoder failed');
      }
    }
  }

  /** Starts at piece number `first`: a file is always cut into the same pieces. */
  async *#decodeFrom(task: DecodeTask, first: number, signal: AbortSignal): AsyncGenerator<DecodedStretch, void, void> {
    const work = this.#pool.open(task);
    try {
      for (let number = 0; ; ) {
        const answer = await work.next(signal);
        if (answer.kind === 'end') return;
        if (answer.kind === 'none') continue;
        if (number >= first) yield answer;
        number++;
      }
    } finally {
      work.close();
    }
  }
}

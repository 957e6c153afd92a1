/** A file as 16 kHz audio, a few seconds at a time, decoded outside of the server's own thread. */
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
/** Files share threads, so that one may lose its thread to another. It is then begun again, so often at most. */
const BEGINNINGS_MAX = 5;

interface DecodersOptions {
  /** Of what ffmpeg makes of files. */
  readonly disk: RecordingDisk;
  /** FFMPEG_TIMEOUT_MS. */
  readonly ffmpegTimeoutMs: number;
  readonly clock: Clock;
}

/** A file to decode. */
export interface DecodeRequest extends Omit<DecodeTask, 'kind'> {
  /** Whose it is: tenants take turns. */
  readonly tenant: string;
  /** Folder for what ffmpeg makes of the file, if it has to. */
  readonly workFolder: string;
  /** Ends the decoding at once. */
  readonly signal: AbortSignal;
}

/**
 * Decodes the files of one gateway, however many there are, with a few threads and a few ffmpegs: no more than half of
 * the cores, for the engines and live calls need theirs, and two at least, so that a file that takes long does not hold
 * up all others.
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

  /** Threads that decode now. */
  get threads(): number {
    return this.#pool.threads;
  }

  /**
   * The audio of the file at `path`: stretches of some seconds. Nothing is decoded before it is asked for. When it is
   * over or returned from, nothing of it is left in a thread or in `workFolder`.
   * @throws TrunklineError `audio_unreadable`, `audio_too_long` or `upload_disk_full`
   */
  async *decode(request: DecodeRequest): AsyncGenerator<DecodedStretch, void, void> {
    const { path, channels, channelsMax, maxSeconds, tenant, workFolder, signal } = request;
    const task = { path, channels, channelsMax, maxSeconds };
    const head = await readHead(path);
    if (head.length === 0) throw unreadable('it is empty');
    const kind = detectAudio(head);
    if (kind === 'text') throw unreadable('it holds text, expected audio');
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
        if (error.isCause || beginnings === BEGINNINGS_MAX) throw unreadable('the decoder gave up on it');
      }
    }
  }

  /** From the stretch with the number `first` on: a file is cut into the same stretches each time. */
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

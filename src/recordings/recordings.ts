/** Who may have a recording transcribed now, where its file lies meanwhile, and what becomes of it when the gateway ends. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import { TrunklineError } from '../errors.ts';
import { makeFolder } from '../folders.ts';
import type { Metrics } from '../metrics.ts';
import type { Settings } from '../settings.ts';
import { FileDecoders } from './decode.ts';
import { RecordingDisk } from './disk.ts';
import { type Recording, type RecordingProgress, type RecordingTask, type Transcriber, transcribeRecording } from './transcribe.ts';

const FOLDER_PREFIX = 'trunkline-recordings-';

interface RecordingsOptions extends Omit<Transcriber, 'decoders'> {
  readonly settings: Transcriber['settings'] &
    Pick<Settings, 'UPLOAD_DIR' | 'UPLOAD_DISK_MAX_BYTES' | 'BATCH_QUEUE_MAX' | 'FFMPEG_TIMEOUT_MS'>;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

/** A place among the recordings in work. Whoever has it lets go of it, whatever happened. */
export interface Place {
  /** Where the recording's file belongs; it is not there yet. */
  readonly path: string;
  /** The folder that it is in. */
  readonly workFolder: string;
  /** Aborts when the gateway cannot wait any longer. */
  readonly signal: AbortSignal;
  /** Removes the file and makes room for another recording. Idempotent. */
  release(): Promise<void>;
}

/** The recordings of one gateway. */
export class Recordings {
  /** What their files take, those of batches included. */
  readonly disk: RecordingDisk;
  readonly #decoders: FileDecoders;
  readonly #options: RecordingsOptions;
  readonly #life = new AbortController();
  readonly #places = new Set<Place>();
  #folder: Promise<string> | null = null;
  #isDraining = false;
  #emptied: () => void = () => undefined;

  constructor(options: RecordingsOptions) {
    const { settings, clock, metrics } = options;
    this.#options = options;
    this.disk = new RecordingDisk({ maxBytes: settings.UPLOAD_DISK_MAX_BYTES, metrics });
    this.#decoders = new FileDecoders({ disk: this.disk, ffmpegTimeoutMs: settings.FFMPEG_TIMEOUT_MS, clock });
  }

  /**
   * Lets one more recording in.
   * @throws TrunklineError `draining` when the gateway is shutting down, `batch_queue_full` when too many are in work
   */
  async admit(): Promise<Place> {
    const { settings, metrics } = this.#options;
    this.#assertRoom();
    const place: Place = { path: '', workFolder: '', signal: this.#life.signal, release: async () => undefined };
    this.#places.add(place);
    metrics.files.set(this.#places.size);
    try {
      this.#folder ??= this.#makeFolder(settings.UPLOAD_DIR || tmpdir());
      const workFolder = await this.#folder;
      const path = join(workFolder, randomUUID());
      return { ...place, path, workFolder, release: () => this.#release(place, path) };
    } catch (error) {
      this.#folder = null;
      await this.#release(place, null);
      throw error;
    }
  }

  /** Transcribes a recording that has its place. As {@link transcribeRecording}. */
  async transcribe(task: RecordingTask): Promise<Recording> {
    let countedMs = 0;
    const onProgress = (progress: RecordingProgress): void => {
      this.#options.metrics.fileSeconds.inc((progress.heardMs - countedMs) / 1000);
      countedMs = progress.heardMs;
      task.onProgress?.(progress);
    };
    return transcribeRecording({ ...task, onProgress }, { ...this.#options, decoders: this.#decoders });
  }

  /** Lets no more in, and gives those that are in `timeoutMs` to be finished. Resolves when all have been let go of and their folder is gone. */
  async drain(timeoutMs: number): Promise<void> {
    this.#isDraining = true;
    const timer = this.#options.clock.after(timeoutMs, () => this.#abort());
    await new Promise<void>((resolve) => {
      this.#emptied = resolve;
      if (this.#places.size === 0) resolve();
    });
    timer.cancel();
    if (this.#folder !== null) await rm(await this.#folder, { recursive: true, force: true });
  }

  #assertRoom(): void {
    const { BATCH_QUEUE_MAX } = this.#options.settings;
    if (this.#isDraining) throw new TrunklineError('draining', 'the gateway is shutting down and takes no new recordings');
    if (this.#places.size >= BATCH_QUEUE_MAX) {
      throw new TrunklineError(
        'batch_queue_full',
        `${BATCH_QUEUE_MAX} recordings are in work, which is the most allowed (BATCH_QUEUE_MAX); try again soon`,
      );
    }
  }

  #abort(): void {
    this.#life.abort(new TrunklineError('draining', 'the gateway is shutting down and could not finish the recording'));
  }

  async #release(place: Place, path: string | null): Promise<void> {
    if (!this.#places.delete(place)) return;
    this.#options.metrics.files.set(this.#places.size);
    if (path !== null) await this.disk.remove(path);
    if (this.#places.size === 0) this.#emptied();
  }

  async #makeFolder(parent: string): Promise<string> {
    await makeFolder(parent, 0o700);
    await removeLeftovers(parent);
    return mkdtemp(join(parent, `${FOLDER_PREFIX}${process.pid}-`));
  }
}

/** A gateway that was killed could not remove its folder: the next one does. */
async function removeLeftovers(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const pid = Number(new RegExp(`^${FOLDER_PREFIX}(\\d+)-`).exec(name)?.[1] ?? Number.NaN);
    if (Number.isInteger(pid) && !isAlive(pid)) await rm(join(parent, name), { recursive: true, force: true }).catch(() => undefined);
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Admits recordings for transcription, keeps their files in a work folder, and finishes or aborts them at shutdown.
 */
import { randomUUID } from 'node:crypto';
import { access } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Engine, EngineError } from '../engine-client/engine.ts';
import type { Clock } from '../foundation/clock.ts';
import { TrunklineError } from '../foundation/errors.ts';
import { makeFolder } from '../foundation/folders/folders.ts';
import { makeOwnFolder, type OwnFolder, removeLeftovers } from '../foundation/folders/own-folders.ts';
import { matchLanguage } from '../foundation/languages.ts';
import type { Metrics } from '../foundation/metrics.ts';
import { isAnyLanguage, requireSpoken } from '../foundation/recogniser-languages.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import { FileDecoders } from './decode.ts';
import { RecordingDisk } from './disk.ts';
import {
  languagesOf,
  type RecordingProgress,
  type RecordingTask,
  type RecordingTranscript,
  type Transcriber,
  transcribeRecording,
} from './transcribe.ts';

const FOLDER_PREFIX = 'trunkline-recordings-';

interface RecordingsOptions extends Omit<Transcriber, 'decoders' | 'engine'> {
  readonly settings: Transcriber['settings'] &
    Pick<
      Settings,
      'DEFAULT_LANGUAGE' | 'UPLOAD_DIR' | 'UPLOAD_DISK_MAX_BYTES' | 'BATCH_QUEUE_MAX' | 'FFMPEG_TIMEOUT_MS'
    >;
  readonly engine: Transcriber['engine'] & Pick<Engine, 'wake'>;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

/** A place among the recordings in work. Its holder must always release it. */
export interface Place {
  /** The path for the recording's file, which does not exist yet. */
  readonly path: string;
  /** The folder of that path. */
  readonly workFolder: string;
  /** Aborts when the server cannot wait any longer. */
  readonly signal: AbortSignal;
  /** Removes the file and frees the place for another recording. Idempotent. */
  release(): Promise<void>;
}

/** The recordings of one server. */
export class Recordings {
  /** The disk that recordings take, those of batches included. */
  readonly disk: RecordingDisk;
  readonly #decoders: FileDecoders;
  readonly #options: RecordingsOptions;
  readonly #life = new AbortController();
  readonly #places = new Set<Place>();
  #folder: Promise<OwnFolder> | null = null;
  #isDraining = false;
  #emptied: () => void = () => undefined;

  constructor(options: RecordingsOptions) {
    const { settings, clock, metrics } = options;
    this.#options = options;
    this.disk = new RecordingDisk({ maxBytes: settings.UPLOAD_DISK_MAX_BYTES, metrics });
    this.#decoders = new FileDecoders({ disk: this.disk, ffmpegTimeoutMs: settings.FFMPEG_TIMEOUT_MS, clock });
  }

  /**
   * Admits one more recording. The engines are started while it comes, where they are not.
   * @throws TrunklineError `draining` when the server is shutting down, `batch_queue_full` when too many are in work
   */
  async admit(): Promise<Place> {
    const { metrics, engine } = this.#options;
    this.#assertRoom();
    engine.wake();
    const place: Place = { path: '', workFolder: '', signal: this.#life.signal, release: async () => undefined };
    this.#places.add(place);
    metrics.files.set(this.#places.size);
    try {
      const workFolder = await this.#openFolder();
      const path = join(workFolder, randomUUID());
      return { ...place, path, workFolder, release: () => this.#release(place, path) };
    } catch (error) {
      await this.#release(place, null);
      throw error;
    }
  }

  /**
   * The languages that can be transcribed; the first one is the default. Waits for an engine if none has been ready,
   * which may take long.
   * @throws TrunklineError `engine_unavailable`; the reason of `signal`
   */
  async languages(signal: AbortSignal): Promise<readonly string[]> {
    signal.throwIfAborted();
    const aborted = new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
    try {
      return await Promise.race([languagesOf(this.#options.engine), aborted]);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      throw new TrunklineError('engine_unavailable', `no speech engine is ready: ${error.message}`);
    }
  }

  /**
   * Refuses a language that the recogniser does not understand. Waits for an engine as {@link languages} does.
   * @throws TrunklineError `unsupported_language`, `engine_unavailable`; the reason of `signal`
   */
  async assertUnderstood(language: string, signal: AbortSignal): Promise<void> {
    if (!isAnyLanguage(language)) requireSpoken(language, await this.languages(signal), 'language');
  }

  /** Whether the recogniser says how probable its tokens were; known once {@link languages} are. */
  get hasLogprobs(): boolean {
    return this.#options.engine.abilities?.logprobs === true;
  }

  /**
   * The language of a recording of which a request says `language`, or nothing: in BCP-47, null = the recogniser finds
   * it out. Known once {@link languages} are.
   */
  spokenIn(language: string | undefined): string | null {
    const { engine, settings } = this.#options;
    const named = matchLanguage(language || settings.DEFAULT_LANGUAGE, engine.languages);
    return named ?? (engine.abilities?.languageGuess === true ? null : (engine.languages[0] ?? null));
  }

  /** Whether the recogniser has a use for hot words; known once {@link languages} are. */
  get takesHotWords(): boolean {
    return this.#options.engine.abilities?.hotWords === true;
  }

  /** Whether the recogniser reads running text about the speech; known once {@link languages} are. */
  get takesContext(): boolean {
    return this.#options.engine.abilities?.context === true;
  }

  /** Transcribes an admitted recording. As {@link transcribeRecording}. */
  async transcribe(task: RecordingTask): Promise<RecordingTranscript> {
    let countedMs = 0;
    const onProgress = (progress: RecordingProgress): void => {
      this.#options.metrics.fileSeconds.inc((progress.takenMs - countedMs) / 1000);
      countedMs = progress.takenMs;
      task.onProgress?.(progress);
    };
    return transcribeRecording({ ...task, onProgress }, { ...this.#options, decoders: this.#decoders });
  }

  /**
   * Admits no more recordings, and aborts those that are not finished after `timeoutMs`. Resolves when all have been
   * released and their folder is removed.
   */
  async drain(timeoutMs: number): Promise<void> {
    this.#isDraining = true;
    const timer = this.#options.clock.after(timeoutMs, () => this.#abort());
    await new Promise<void>((resolve) => {
      this.#emptied = resolve;
      if (this.#places.size === 0) resolve();
    });
    timer.cancel();
    await (await this.#folder)?.remove();
  }

  /** Removes the folders of processes that were killed. Never rejects. */
  async removeLeftovers(): Promise<void> {
    await removeLeftovers(this.#parent, FOLDER_PREFIX, this.#options.clock);
  }

  #assertRoom(): void {
    const { BATCH_QUEUE_MAX } = this.#options.settings;
    if (this.#isDraining)
      throw new TrunklineError('draining', 'the server is shutting down and takes no new recordings');
    if (this.#places.size >= BATCH_QUEUE_MAX) {
      throw new TrunklineError(
        'batch_queue_full',
        `${BATCH_QUEUE_MAX} recordings are in work, the most allowed; try again soon`,
      );
    }
  }

  #abort(): void {
    this.#life.abort(new TrunklineError('draining', 'the server is shutting down and could not finish the recording'));
  }

  async #release(place: Place, path: string | null): Promise<void> {
    if (!this.#places.delete(place)) return;
    this.#options.metrics.files.set(this.#places.size);
    try {
      if (path !== null) await this.disk.remove(path);
    } finally {
      // If the disk fails, the file stays, but the server must still be able to stop.
      if (this.#places.size === 0) this.#emptied();
    }
  }

  get #parent(): string {
    return this.#options.settings.UPLOAD_DIR || tmpdir();
  }

  /** Makes the folder at its first use, and again if the system has cleaned up temporary folders. */
  async #openFolder(): Promise<string> {
    const opened = this.#folder;
    if (opened !== null && !(await isThere((await opened).path))) {
      if (this.#folder === opened) this.#folder = null;
      await (await opened).remove();
    }
    this.#folder ??= this.#makeFolder().catch((error: unknown) => {
      this.#folder = null;
      throw error;
    });
    return (await this.#folder).path;
  }

  async #makeFolder(): Promise<OwnFolder> {
    await makeFolder(this.#parent, 0o700);
    await this.removeLeftovers();
    return makeOwnFolder(this.#parent, FOLDER_PREFIX, this.#options.clock);
  }
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

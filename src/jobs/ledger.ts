/**
 * Records which recordings of a folder are transcribed, so that the next run continues where the last one stopped. It
 * uses the same store as batches.
 */
import type { Clock } from '../foundation/clock.ts';
import type { ChannelMode } from '../recordings/decode-messages.ts';
import type { Batch, BatchFile } from './batch.ts';
import { type DataFolder, openDataFolder } from './data-folder.ts';
import { Store } from './store.ts';

const RUN_ID = 'files';

/** A recording to be transcribed. */
export interface Wanted {
  /** The name of the transcript, which identifies the recording in later runs. */
  readonly name: string;
  readonly location: string;
  /** Changes when the recording or the options for it change. */
  readonly stamp: string;
}

/** The ledger of one folder, open in one process only. */
export class Ledger {
  readonly #dataFolder: DataFolder;
  readonly #store: Store;
  readonly #known: ReadonlyMap<string, BatchFile>;
  #run: Batch | null = null;

  private constructor(dataFolder: DataFolder, store: Store, known: readonly BatchFile[]) {
    this.#dataFolder = dataFolder;
    this.#store = store;
    this.#known = new Map(known.map((file) => [file.name, file]));
  }

  /**
   * Opens the ledger in `folder`, which is created if it is missing. When another process has it open, calls `onWait`
   * and waits some seconds.
   * @throws DataFolderError when the folder cannot be used; Error when the ledger is damaged; errors of a full disk
   */
  static async open(folder: string, options: { clock: Clock; onWait: (who: string) => void }): Promise<Ledger> {
    const dataFolder = await openDataFolder(folder, options);
    const store = await Store.open(folder);
    try {
      const batches = await store.load();
      return new Ledger(
        dataFolder,
        store,
        batches.flatMap(({ files }) => files),
      );
    } catch (error) {
      await store.close();
      await dataFolder.close();
      throw error;
    }
  }

  /** Whether an earlier run wrote the transcript `name`, or was about to. */
  isOurs(name: string): boolean {
    return this.#known.has(name);
  }

  /** Begins a run. A transcript that exists and was made from the same recording counts as done. */
  async begin(
    wanted: readonly Wanted[],
    options: { channels: ChannelMode; nowMs: number; isThere: (name: string) => boolean },
  ): Promise<Batch> {
    let next = Math.max(-1, ...[...this.#known.values()].map(({ number }) => number)) + 1;
    const files = wanted.map(({ name, location, stamp }): BatchFile => {
      const known = this.#known.get(name);
      const isDone =
        known?.state === 'done' &&
        known.source.kind === 'file' &&
        known.source.stamp === stamp &&
        options.isThere(name);
      return {
        number: known?.number ?? next++,
        name,
        source: { kind: 'file', location, stamp },
        error: null,
        state: isDone ? 'done' : 'waiting',
        durationMs: isDone ? known.durationMs : null,
      };
    });
    this.#run = {
      id: RUN_ID,
      tenant: '',
      createdMs: options.nowMs,
      channels: options.channels,
      targetLanguage: '',
      idempotency: null,
      webhook: null,
      state: 'running',
      endedMs: null,
      files,
    };
    await this.#store.put(this.#run, []);
    return this.#run;
  }

  /**
   * Stores that `file` of the run is done. To be called before its transcript is written, so that an existing
   * transcript is known to be from this command.
   * @throws DiskError
   */
  async note(file: BatchFile): Promise<void> {
    if (this.#run !== null) await this.#store.put(this.#run, [file]);
  }

  async close(): Promise<void> {
    await this.#store.close();
    await this.#dataFolder.close();
  }
}

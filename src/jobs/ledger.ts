/**
 * Keeps which recordings of one folder earlier runs have transcribed, so that a run continues where the last one
 * stopped. It uses the same store as batches.
 */
import type { Clock } from '../foundation/clock.ts';
import type { ChannelMode } from '../recordings/decode-messages.ts';
import type { Batch, BatchFile } from './batch.ts';
import { type DataFolder, openDataFolder } from './data-folder.ts';
import { Store } from './store.ts';

const RUN_ID = 'files';

/** A recording to transcribe. */
export interface Wanted {
  /** The transcript's name, by which a later run finds it. */
  readonly name: string;
  readonly location: string;
  /** Changes with the recording and with the options of its transcript. */
  readonly stamp: string;
}

/** The ledger of one folder. No other process has it open. */
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
   * Opens the ledger in `folder`, and makes the folder if it does not exist. If another process has it open, calls
   * `onWait` and waits some seconds.
   * @throws DataFolderError when it cannot be used; Error when it is damaged; the error of a full disk
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

  /** Whether a run has written a transcript called `name`, or was going to. */
  isOurs(name: string): boolean {
    return this.#known.has(name);
  }

  /** Begins a run for `wanted`. A transcript of the same recording that `isThere` is done already. */
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
   * Stores that `file` is done. This happens before its transcript is written, so that an existing transcript is known
   * to be ours. @throws DiskError
   */
  async note(file: BatchFile): Promise<void> {
    if (this.#run !== null) await this.#store.put(this.#run, [file]);
  }

  async close(): Promise<void> {
    await this.#store.close();
    await this.#dataFolder.close();
  }
}

/**
 * What earlier runs have made of recordings in one folder, so that a run goes on where the one before it stopped. In
 * the store that batches are kept in.
 */
import type { Clock } from '../foundation/clock.ts';
import type { ChannelMode } from '../recordings/decode-messages.ts';
import type { Batch, BatchFile } from './batch.ts';
import { type DataFolder, openDataFolder } from './data-folder.ts';
import { Store } from './store.ts';

const RUN_ID = 'files';

/** A recording that is to have a transcript. */
export interface Wanted {
  /** The transcript's, by which a later run knows it again. */
  readonly name: string;
  readonly location: string;
  /** Another one = the recording, or what is wanted of it, has changed. */
  readonly stamp: string;
}

/** The book of one folder, which no other process has open. */
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
   * Opens the book in `folder`, which is made if it is not there. Waits some seconds for another process that has it,
   * which `onWait` is told of.
   * @throws HomeError when it cannot be used; Error when it is damaged; what a full disk says
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

  /** Whether a transcript called `name` was written by a run, or was about to be. */
  isOurs(name: string): boolean {
    return this.#known.has(name);
  }

  /** A run for all of `wanted`: what `isThere`, and was done from the same recording, is done already. */
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
   * Keeps that `file` of the run is done: before its transcript is written, so that one that is there is known to be
   * ours. @throws DiskError
   */
  async note(file: BatchFile): Promise<void> {
    if (this.#run !== null) await this.#store.put(this.#run, [file]);
  }

  async close(): Promise<void> {
    await this.#store.close();
    await this.#dataFolder.close();
  }
}

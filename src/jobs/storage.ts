/**
 * The storage of batches: a folder with their recordings and transcripts, and the database in it. Waits when the disk
 * is full or fails.
 */
import { lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../foundation/clock.ts';
import { isDiskTrouble } from '../foundation/folders/disk.ts';
import { isOwn, makeFolder } from '../foundation/folders/folders.ts';
import type { Log } from '../foundation/log/log.ts';
import type { RecordingDisk } from '../recordings/disk.ts';
import { BATCH_ID, type Batch, type BatchFile } from './batch.ts';
import { type DataFolder, openDataFolder } from './data-folder.ts';
import { type DiskListener, retryOnDiskTrouble } from './disk-retry.ts';
import { Store } from './store.ts';

interface StorageOptions {
  /** BATCH_DIR; empty = a temporary folder. */
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly disk: DiskListener;
  /** Counts the bytes of recordings and their temporary files. */
  readonly recordingDisk: RecordingDisk;
  /** Called with the stored batches, before the storage is used for anything else. */
  onLoad(batches: readonly Batch[]): void;
  /** Whether there is a batch or a draft with that id. */
  isKnown(id: string): boolean;
}

interface Opened {
  readonly dataFolder: DataFolder;
  readonly store: Store;
}

/** The storage of all batches of a gateway. */
export class Storage {
  readonly #options: StorageOptions;
  /** Batches that could not be stored. They are tried again. */
  readonly #unkept = new Set<Batch>();
  /** Batches that are or will be removed. They are not stored again. */
  readonly #removed = new WeakSet<Batch>();
  #folder = '';
  #opening: Promise<Opened> | null = null;

  constructor(options: StorageOptions) {
    this.#options = options;
  }

  /**
   * Opens the storage once. @throws DataFolderError when the folder cannot be used; errors of a full disk or a damaged
   * database
   */
  async open(): Promise<void> {
    await this.#open();
  }

  /** Creates the folder of a draft. @throws as {@link open} */
  async makeFolder(id: string): Promise<string> {
    const { dataFolder } = await this.#open();
    const folder = join(dataFolder.folder, id);
    // The system may have removed a temporary folder, which is then created again. A missing BATCH_DIR is an error.
    if (this.#options.folder === '') await makeOwnAgain(dataFolder.folder);
    await mkdir(folder, { mode: 0o700 });
    return folder;
  }

  /** The folder of a batch. */
  folderOf({ id }: Batch): string {
    return join(this.#folder, id);
  }

  /**
   * Stores a batch and `files` of it, unless it was removed. @throws DiskError when the disk is full or fails
   */
  async put(batch: Batch, files: readonly BatchFile[]): Promise<void> {
    const { store } = await this.#open();
    if (this.#options.isKnown(batch.id) && !this.#removed.has(batch)) await store.put(batch, files);
  }

  /**
   * As {@link put}, but waits for a full disk. When that takes too long, {@link keepRest} stores the batch later.
   * @throws the reason of `signal`
   */
  async keep(batch: Batch, files: readonly BatchFile[], signal: AbortSignal): Promise<void> {
    const { clock, log, disk } = this.#options;
    if (this.#unkept.has(batch)) return;
    try {
      await retryOnDiskTrouble(() => this.#putMakingRoom(batch, files), { clock, signal, listener: disk });
    } catch (err) {
      signal.throwIfAborted();
      log.error(
        { err, batch: batch.id },
        'a batch cannot be stored: if the server ends now, the next start repeats the work that was not stored',
      );
      this.#unkept.add(batch);
    }
  }

  /** When the disk is full, removes the recordings of finished files; a restart finds their transcripts. */
  async #putMakingRoom(batch: Batch, files: readonly BatchFile[]): Promise<void> {
    try {
      await this.put(batch, files);
    } catch (error) {
      for (const file of files) if (file.state === 'done') await this.removeRecording(batch, file);
      throw error;
    }
  }

  /** As {@link put}; when the disk is full, {@link keepRest} stores the batch later. */
  async keepNowOrLater(batch: Batch): Promise<void> {
    try {
      await this.put(batch, batch.files);
    } catch (error) {
      if (!isDiskTrouble(error)) throw error;
      this.#unkept.add(batch);
    }
  }

  /** Stores the batches that could not be stored before. */
  async keepRest(): Promise<void> {
    for (const batch of this.#unkept) {
      try {
        await this.put(batch, batch.files);
        this.#unkept.delete(batch);
      } catch {
        return;
      }
    }
  }

  /** Removes a batch and its files. @throws DiskError when the removal cannot be stored */
  async remove(batch: Batch): Promise<void> {
    this.#removed.add(batch);
    try {
      await this.#remove(batch);
    } catch (error) {
      // Changes made while the batch counted as removed were not stored; this stores them later.
      this.#removed.delete(batch);
      this.#unkept.add(batch);
      throw error;
    }
  }

  async #remove(batch: Batch): Promise<void> {
    const { store } = await this.#open();
    const removeFiles = (): Promise<void> => this.#options.recordingDisk.removeFolder(this.folderOf(batch));
    await store.remove(batch.id).catch(async (error: unknown) => {
      if (!isDiskTrouble(error)) throw error;
      // On a full disk, storing the removal needs the room of the files.
      await removeFiles();
      await store.remove(batch.id);
    });
    this.#unkept.delete(batch);
    await removeFiles();
  }

  /** Removes a recording that is no longer needed. If that fails, it is removed with its batch. */
  async removeRecording(batch: Batch, { number }: BatchFile): Promise<void> {
    const { log, recordingDisk } = this.#options;
    await recordingDisk.remove(join(this.folderOf(batch), String(number))).catch((err: unknown) => {
      log.warn({ err, batch: batch.id }, 'a recording could not be removed');
    });
  }

  /** Closes the storage when all requests are done. */
  async close(): Promise<void> {
    const opened = await this.#opening?.catch(() => null);
    await opened?.store.close();
    await opened?.dataFolder.close();
  }

  #open(): Promise<Opened> {
    this.#opening ??= this.#load().catch((error: unknown) => {
      this.#opening = null;
      throw error;
    });
    return this.#opening;
  }

  async #load(): Promise<Opened> {
    const { folder, clock, log } = this.#options;
    const onWait = (owner: string): void =>
      log.warn({ owner }, 'BATCH_DIR is in use; waiting some seconds for its owner to end');
    const dataFolder = await openDataFolder(folder, { clock, onWait });
    const store = await Store.open(dataFolder.folder);
    try {
      const batches = await store.load();
      this.#folder = dataFolder.folder;
      await this.#removeStrays(batches);
      for (const batch of batches) await this.#takeOver(batch);
      this.#options.onLoad(batches);
    } catch (error) {
      await store.close();
      await dataFolder.close();
      throw error;
    }
    return { dataFolder, store };
  }

  /** Removes the folders of drafts whose gateway was killed. */
  async #removeStrays(batches: readonly Batch[]): Promise<void> {
    const kept = new Set(batches.map(({ id }) => id));
    for (const entry of await readdir(this.#folder, { withFileTypes: true })) {
      const isStray =
        entry.isDirectory() && BATCH_ID.test(entry.name) && !kept.has(entry.name) && !this.#options.isKnown(entry.name);
      if (isStray) await rm(join(this.#folder, entry.name), { recursive: true, force: true });
    }
  }

  /** Removes recordings whose gateway was killed after their transcript was stored, and counts waiting ones. */
  async #takeOver(batch: Batch): Promise<void> {
    // One readdir instead of a removal for each file: most stored batches have nothing to remove.
    const names = new Set(await readdir(this.folderOf(batch)).catch(noneIfMissing));
    for (const file of batch.files.filter(({ number }) => names.has(String(number)))) {
      if (file.state !== 'waiting') await this.removeRecording(batch, file);
      else await this.#options.recordingDisk.adopt(join(this.folderOf(batch), String(file.number)));
    }
  }
}

/** @throws Error when another user has created a folder with that name */
async function makeOwnAgain(folder: string): Promise<void> {
  await makeFolder(folder, 0o700);
  const found = await lstat(folder);
  if (!found.isDirectory() || !isOwn(found))
    throw new Error('the temporary folder of batches belongs to another user now');
}

function noneIfMissing(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENOENT') return [];
  throw error;
}

/**
 * Where batches lie: a folder with their recordings and transcripts, and the database in it. Waits for a disk that is
 * full or fails.
 */
import { lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../foundation/clock.ts';
import { isDiskTrouble } from '../foundation/folders/disk.ts';
import { isOwn, makeFolder } from '../foundation/folders/folders.ts';
import type { Log } from '../foundation/log/log.ts';
import type { RecordingDisk } from '../recordings/disk.ts';
import type { Batch, BatchFile } from './batch.ts';
import { type DataFolder, openDataFolder } from './data-folder.ts';
import { type DiskListener, insist } from './patience.ts';
import { Store } from './store.ts';

const BATCH_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

interface StorageOptions {
  /** BATCH_DIR; empty = a temporary folder. */
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly disk: DiskListener;
  /** Counts the recordings and what is made of them. */
  readonly recordingDisk: RecordingDisk;
  /** What was found, before anybody else gets at the storage. */
  onLoad(batches: readonly Batch[]): void;
  /** Whether a batch of that id is there, or being received. */
  isKnown(id: string): boolean;
}

interface Opened {
  readonly dataFolder: DataFolder;
  readonly store: Store;
}

/** The storage of all batches of a gateway. */
export class Storage {
  readonly #options: StorageOptions;
  /** What the store would not take: it is offered again. */
  readonly #unkept = new Set<Batch>();
  /** What was removed, or is about to be: whoever still has it has nothing kept of it any more. */
  readonly #removed = new WeakSet<Batch>();
  #folder = '';
  #opening: Promise<Opened> | null = null;

  constructor(options: StorageOptions) {
    this.#options = options;
  }

  /** Opens it, once. @throws HomeError when the folder cannot be used; what a full disk says, or a damaged database */
  async open(): Promise<void> {
    await this.#open();
  }

  /** Makes the folder of a batch that is yet to be received. As {@link open}. */
  async makeFolder(id: string): Promise<string> {
    const { dataFolder } = await this.#open();
    const folder = join(dataFolder.folder, id);
    // Temporary folders are tidied away, and what was in them is wanted by nobody. One that an operator named is
    // missed.
    if (this.#options.folder === '') await makeOwnAgain(dataFolder.folder);
    await mkdir(folder, { mode: 0o700 });
    return folder;
  }

  /** The folder of a batch. */
  folderOf({ id }: Batch): string {
    return join(this.#folder, id);
  }

  /**
   * Keeps a batch and files of it, unless it was removed meanwhile. @throws DiskError when the disk is full or fails
   */
  async put(batch: Batch, files: readonly BatchFile[]): Promise<void> {
    const { store } = await this.#open();
    if (this.#options.isKnown(batch.id) && !this.#removed.has(batch)) await store.put(batch, files);
  }

  /**
   * As {@link put}, as soon as the disk lets it. What it refuses for too long is kept by {@link keepRest}. @throws the
   * reason of `signal`
   */
  async keep(batch: Batch, files: readonly BatchFile[], signal: AbortSignal): Promise<void> {
    const { clock, log, disk } = this.#options;
    if (this.#unkept.has(batch)) return;
    try {
      await insist(() => this.#putMakingRoom(batch, files), { clock, signal, listener: disk });
    } catch (err) {
      signal.throwIfAborted();
      log.error(
        { err, batch: batch.id },
        'a batch cannot be kept: should the gateway end now, what came of it is found out anew',
      );
      this.#unkept.add(batch);
    }
  }

  /** Where the disk refuses, recordings go whose transcripts are there: after a restart those are found. */
  async #putMakingRoom(batch: Batch, files: readonly BatchFile[]): Promise<void> {
    try {
      await this.put(batch, files);
    } catch (error) {
      for (const file of files) if (file.state === 'done') await this.removeRecording(batch, file);
      throw error;
    }
  }

  /** As {@link put}, and later by {@link keepRest} where the disk refuses. */
  async keepNowOrLater(batch: Batch): Promise<void> {
    try {
      await this.put(batch, batch.files);
    } catch (error) {
      if (!isDiskTrouble(error)) throw error;
      this.#unkept.add(batch);
    }
  }

  /** Keeps what could not be kept before. */
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

  /** Forgets a batch and removes its files. @throws DiskError when that cannot be noted */
  async remove(batch: Batch): Promise<void> {
    this.#removed.add(batch);
    try {
      await this.#remove(batch);
    } catch (error) {
      // What was not kept of it meanwhile is.
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
      // A full disk has no room for the note before there are fewer files.
      await removeFiles();
      await store.remove(batch.id);
    });
    this.#unkept.delete(batch);
    await removeFiles();
  }

  /** Removes a recording that is not needed any more. Where that fails, it goes with its batch. */
  async removeRecording(batch: Batch, { number }: BatchFile): Promise<void> {
    const { log, recordingDisk } = this.#options;
    await recordingDisk.remove(join(this.folderOf(batch), String(number))).catch((err: unknown) => {
      log.warn({ err, batch: batch.id }, 'a recording could not be removed');
    });
  }

  /** Closes it when all that was asked for is done. */
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

  /** Folders of batches that were being received when a gateway was killed. */
  async #removeStrays(batches: readonly Batch[]): Promise<void> {
    const kept = new Set(batches.map(({ id }) => id));
    for (const entry of await readdir(this.#folder, { withFileTypes: true })) {
      const isStray =
        entry.isDirectory() && BATCH_ID.test(entry.name) && !kept.has(entry.name) && !this.#options.isKnown(entry.name);
      if (isStray) await rm(join(this.#folder, entry.name), { recursive: true, force: true });
    }
  }

  /** Removes recordings whose transcript was noted just before a gateway was killed, and counts those that wait. */
  async #takeOver(batch: Batch): Promise<void> {
    // One look at the folder: most batches that are kept have nothing to remove.
    const names = new Set(await readdir(this.folderOf(batch)).catch(noneIfMissing));
    for (const file of batch.files.filter(({ number }) => names.has(String(number)))) {
      if (file.state !== 'waiting') await this.removeRecording(batch, file);
      else await this.#options.recordingDisk.adopt(join(this.folderOf(batch), String(file.number)));
    }
  }
}

/** @throws Error when somebody else has made a folder of that name meanwhile */
async function makeOwnAgain(folder: string): Promise<void> {
  await makeFolder(folder, 0o700);
  const found = await lstat(folder);
  if (!found.isDirectory() || !isOwn(found)) throw new Error('the temporary folder of batches is not ours any more');
}

function noneIfMissing(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENOENT') return [];
  throw error;
}

/**
 * Counts the disk that recordings take, while they are written: uploads, downloads and ffmpeg's output together.
 */
import { rm, stat, statfs } from 'node:fs/promises';
import { dirname, sep } from 'node:path';
import { Transform } from 'node:stream';
import { TrunklineError } from '../foundation/errors.ts';
import { DiskError } from '../foundation/folders/disk.ts';
import type { Metrics } from '../foundation/metrics.ts';

/** Space of a disk that stays free for other use: the smaller of the two. */
const FREE_MIN_BYTES = 268_435_456;
const FREE_MIN_SHARE = 0.05;
/** Bytes of a file that may be written before the free space is checked again. */
const LOOK_PERIOD_BYTES = 4_194_304;

interface DiskOptions {
  /** UPLOAD_DISK_MAX_BYTES. */
  readonly maxBytes: number;
  readonly metrics: Pick<Metrics, 'uploadDiskBytes' | 'uploadDiskRefused'>;
  /** Returns the free space of a folder's disk (statfs(2)). */
  readonly look?: (
    folder: string,
  ) => Promise<{ readonly bsize: number; readonly blocks: number; readonly bavail: number }>;
}

/** The disk that the recordings of one server take. Files are identified by their paths. */
export class RecordingDisk {
  readonly #options: DiskOptions;
  readonly #bytesOf = new Map<string, number>();
  #bytes = 0;

  constructor(options: DiskOptions) {
    this.#options = options;
  }

  /**
   * A stream that counts the bytes for a new file at `path`.
   * It fails with TrunklineError `upload_disk_full` when recordings take all the space they may, with
   * `upload_too_large` when one file alone needs more than that, and with DiskError when the disk is nearly full.
   */
  meter(path: string): Transform {
    this.#note(path, 0);
    let lookAt = 0;
    return new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        const before = this.#bytesOf.get(path) ?? 0;
        const looked = before < lookAt ? Promise.resolve() : this.#assertFree(dirname(path));
        if (before >= lookAt) lookAt = before + LOOK_PERIOD_BYTES;
        looked
          .then(() => this.#take(path, chunk.length))
          .then(
            () => done(null, chunk),
            (error: Error) => done(error),
          );
      },
    });
  }

  /** Counts a file that exists already. */
  async adopt(path: string): Promise<void> {
    const found = await stat(path).catch(() => null);
    if (found !== null) this.#note(path, found.size);
  }

  /** Removes the file at `path`, if it exists. */
  async remove(path: string): Promise<void> {
    await rm(path, { force: true });
    this.#note(path, 0);
  }

  /** Removes a folder with its content. */
  async removeFolder(folder: string): Promise<void> {
    await rm(folder, { recursive: true, force: true });
    for (const path of [...this.#bytesOf.keys()]) if (path.startsWith(folder + sep)) this.#note(path, 0);
  }

  #take(path: string, bytes: number): void {
    const { maxBytes } = this.#options;
    const ofFile = (this.#bytesOf.get(path) ?? 0) + bytes;
    if (ofFile > maxBytes) {
      throw new TrunklineError(
        'upload_too_large',
        `the recording takes more than ${maxBytes} bytes of disk, which is the most for all together ` +
          '(UPLOAD_DISK_MAX_BYTES)',
        'file',
      );
    }
    if (this.#bytes + bytes > maxBytes) {
      this.#options.metrics.uploadDiskRefused.inc({ reason: 'budget' });
      throw new TrunklineError(
        'upload_disk_full',
        `recordings take ${this.#bytes} of ${maxBytes} bytes of disk (UPLOAD_DISK_MAX_BYTES), this one needs ` +
          'more; try again when others are done',
        'file',
      );
    }
    this.#note(path, ofFile);
  }

  async #assertFree(folder: string): Promise<void> {
    const { look = statfs } = this.#options;
    // If the file system does not report its free space, a write fails when it is full.
    const disk = await look(folder).catch(() => null);
    if (disk === null) return;
    const freeBytes = disk.bavail * disk.bsize;
    const keptBytes = Math.floor(Math.min(FREE_MIN_BYTES, disk.blocks * disk.bsize * FREE_MIN_SHARE));
    if (freeBytes < keptBytes) {
      this.#options.metrics.uploadDiskRefused.inc({ reason: 'free' });
      throw new DiskError(`that of the recordings has ${freeBytes} bytes left, of which ${keptBytes} stay free`);
    }
  }

  #note(path: string, bytes: number): void {
    this.#bytes += bytes - (this.#bytesOf.get(path) ?? 0);
    if (bytes === 0) this.#bytesOf.delete(path);
    else this.#bytesOf.set(path, bytes);
    this.#options.metrics.uploadDiskBytes.set(this.#bytes);
  }
}

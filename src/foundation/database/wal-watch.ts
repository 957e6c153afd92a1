/** Watches SQLite's write-ahead log. */
import { closeSync, fstatSync, openSync } from 'node:fs';

/**
 * Whether the log of one open database is still in its folder. An ordinary SQLite program that closes the file deletes
 * the log, for it does not see the lock of the WebAssembly build. Whatever is written to the log after that is in no
 * file that the next start would find.
 */
export class WalWatch {
  readonly #path: string;
  /** Keeps the log's number in the file system from being used again. */
  #descriptor: number | null = null;

  constructor(databasePath: string) {
    this.#path = `${databasePath}-wal`;
  }

  /** To be asked after something was written: from then on there is a log. @throws the system's error */
  isLost(): boolean {
    try {
      this.#descriptor ??= openSync(this.#path, 'r');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true;
      throw error;
    }
    return fstatSync(this.#descriptor).nlink === 0;
  }

  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }
}

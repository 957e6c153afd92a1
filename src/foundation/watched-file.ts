/** A file of the operator's that is read again when it has changed. */
import { readFile, stat } from 'node:fs/promises';
import type { Clock, Timer } from './clock.ts';
import type { Log } from './log/log.ts';
import { FileError } from './yaml-text.ts';

/** How often the file is looked at. */
const LOOK_MS = 2000;

interface WatchOptions {
  readonly path: string;
  /** The setting that names the file, for the log. */
  readonly setting: string;
  readonly maxBytes: number;
  readonly clock: Clock;
  readonly log: Pick<Log, 'info' | 'error'>;
  /**
   * Takes the file's text over. What it returns is logged with the message that the file was read again.
   * @throws FileError when it cannot be used
   */
  take(text: string): Readonly<Record<string, number>>;
}

/** Looks at one file every two seconds. A text that cannot be used changes nothing. */
export class WatchedFile {
  readonly #options: WatchOptions;
  readonly #timer: Timer;
  #seen = '';
  #isLooking = false;

  private constructor(options: WatchOptions) {
    this.#options = options;
    this.#timer = options.clock.every(LOOK_MS, () => void this.look(), true);
  }

  /** @throws FileError when the file is missing or cannot be used */
  static async open(options: WatchOptions): Promise<WatchedFile> {
    const file = new WatchedFile(options);
    try {
      await file.#read();
    } catch (error) {
      file.close();
      throw error;
    }
    return file;
  }

  /** Reads the file if it has changed. Never rejects. */
  async look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const { log, setting } = this.#options;
    try {
      const taken = await this.#read();
      if (taken !== null) log.info(taken, `${setting} was read again`);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      log.error(`${setting} has changed and cannot be used; what it said before stays: ${message}`);
    } finally {
      this.#isLooking = false;
    }
  }

  close(): void {
    this.#timer.cancel();
  }

  /** Null = the file has not changed. A file that cannot be used is told once. */
  async #read(): Promise<Readonly<Record<string, number>> | null> {
    const { path, maxBytes, take } = this.#options;
    const mark = await markOf(path);
    if (mark === this.#seen) return null;
    this.#seen = mark;
    return take(await readFileText(path, maxBytes));
  }
}

/** A text that changes whenever the file does, also when another takes its place. */
export async function markOf(path: string): Promise<string> {
  const found = await stat(path, { bigint: true }).catch(() => null);
  return found === null ? 'missing' : `${found.dev} ${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}`;
}

/** @throws FileError when it is missing, no file, or has more than `maxBytes` */
export async function readFileText(path: string, maxBytes: number): Promise<string> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw new FileError(`${path}: cannot be read (${error.code ?? error.message})`);
  });
  if (!found.isFile() || found.size > maxBytes)
    throw new FileError(`${path}: expected a file of at most ${maxBytes} bytes`);
  return readFile(path, 'utf8');
}

/** Watches batches for their readers: whichever gateway works on them, their rows say how far they are. */
import type { Clock, Timer } from '../../foundation/clock.ts';
import type { BatchView, FileView, WholeBatchView } from '../batch.ts';
import type { BatchNews } from '../batch-service.ts';

const LOOK_PERIOD_MS = 1000;

interface WatchOptions {
  readonly clock: Clock;
  /** Undefined = there is no such batch any more. @throws the error of the database */
  look(id: string): Promise<WholeBatchView | undefined>;
}

interface Watched {
  readonly listeners: Set<(news: BatchNews) => void>;
  /** As its listeners know it; null = it has not been looked at. */
  known: WholeBatchView | null;
  readonly first: Promise<void>;
}

/** All batches that somebody follows here. Each is looked at once a second, however many follow it. */
export class BatchWatch {
  readonly #options: WatchOptions;
  readonly #watched = new Map<string, Watched>();
  #timer: Timer | null = null;
  #isLooking = false;

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  /**
   * Resolves when the batch is known as it is now, with a function that ends the watch. @throws the error of the
   * database
   */
  async add(id: string, listener: (news: BatchNews) => void): Promise<() => void> {
    const watched = this.#watched.get(id) ?? this.#begin(id);
    watched.listeners.add(listener);
    const stop = (): void => {
      watched.listeners.delete(listener);
      if (watched.listeners.size === 0 && this.#watched.get(id) === watched) this.#watched.delete(id);
      if (this.#watched.size === 0) this.close();
    };
    try {
      await watched.first;
    } catch (error) {
      stop();
      throw error;
    }
    return stop;
  }

  /** Looks no more. */
  close(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  #begin(id: string): Watched {
    const watched: Watched = { listeners: new Set(), known: null, first: this.#lookAt(id) };
    this.#watched.set(id, watched);
    this.#timer ??= this.#options.clock.every(LOOK_PERIOD_MS, () => void this.#look(), true);
    return watched;
  }

  /** One after the other, so that a slow database is not asked twice. */
  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    for (const id of [...this.#watched.keys()]) await this.#lookAt(id).catch(() => undefined);
    this.#isLooking = false;
  }

  async #lookAt(id: string): Promise<void> {
    const found = await this.#options.look(id);
    const watched = this.#watched.get(id);
    if (watched === undefined) return;
    const { known } = watched;
    if (found === undefined) {
      // It was cancelled and removed between two looks.
      if (known !== null) this.#end(id, watched, { ...known.batch, state: 'cancelled' });
      return;
    }
    watched.known = found;
    if (known === null) return;
    for (const [at, file] of found.files.entries()) {
      const type = whatIsNew(known.files[at], file);
      if (type !== null) for (const listener of [...watched.listeners]) listener({ type, file });
    }
    if (found.batch.state !== 'running') this.#end(id, watched, found.batch);
  }

  #end(id: string, { listeners }: Watched, batch: BatchView): void {
    for (const listener of [...listeners]) listener({ type: 'end', batch });
    this.#watched.delete(id);
    if (this.#watched.size === 0) this.close();
  }
}

function whatIsNew(before: FileView | undefined, now: FileView): 'progress' | 'file' | null {
  const isOpen = (file: FileView): boolean => file.state === 'waiting' || file.state === 'running';
  if (before === undefined || !isOpen(before)) return null;
  if (!isOpen(now)) return now.state === 'cancelled' ? null : 'file';
  const isSame = before.progress === now.progress && before.error?.code === now.error?.code;
  return isSame ? null : 'progress';
}

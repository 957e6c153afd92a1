import type { Log } from '../foundation/log/log.ts';
import type { FeedArchive } from './feed/archive.ts';

/** So many of the calls that were stored last: a carrier that uses an id again does so soon. */
const IDS_MAX = 10_000;

/** The ids of stored calls, held in memory: a call that begins cannot wait for the store. */
export class TakenIds {
  /** Oldest first. */
  readonly #ids = new Set<string>();

  /** Reads them in the background. */
  constructor(archive: Pick<FeedArchive, 'latestCallIds'>, log: Log) {
    archive.latestCallIds(IDS_MAX).then(
      (ids) => this.#read(ids),
      (err: unknown) => log.warn({ err }, 'the ids of stored calls cannot be read'),
    );
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  add(id: string): void {
    this.#ids.delete(id);
    this.#ids.add(id);
    const [oldest] = this.#ids;
    if (this.#ids.size > IDS_MAX && oldest !== undefined) this.#ids.delete(oldest);
  }

  remove(id: string): void {
    this.#ids.delete(id);
  }

  /** `ids` has the latest first; calls may have begun meanwhile. */
  #read(ids: readonly string[]): void {
    const sinceThen = [...this.#ids];
    for (const id of [...ids.toReversed(), ...sinceThen]) this.add(id);
  }
}

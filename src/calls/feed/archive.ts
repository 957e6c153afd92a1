/** Where the feed's events are when memory no longer has them. */
import type { FeedEntry } from './feed.ts';

/** Some stored events, oldest first. */
export interface ArchivedEntries {
  readonly entries: readonly FeedEntry[];
  /** Nothing that is stored comes after these. */
  readonly complete: boolean;
}

/** The stored events of this gateway and of its earlier lives: all but partial captions and `speech.*`. */
export interface FeedArchive {
  /**
   * At most `limit` stored events after the one with the feed id `id`, which may be of an earlier epoch, and which need
   * not be stored itself; null, or an id that says nothing to the archive = from the first on. `callId` = only that
   * call's. Ids are as they were when the events were published.
   */
  after(id: string | null, filter: { readonly callId?: string }, limit: number): Promise<ArchivedEntries>;
  /** Resolves when it has all that was published so far, or will never have it. */
  settled(): Promise<void>;
  /** Whether the archive has events of the life of the gateway that gave out this feed id. */
  knows(id: string): Promise<boolean>;
  /**
   * Whether this feed id is of an event that the feed of several gateways has not come to: its database was restored
   * from before that. Absent = such ids say nothing here.
   */
  isAhead?(id: string): Promise<boolean>;
  /** The ids of the `limit` calls that were stored last: a new call must not take one of them. */
  latestCallIds(limit: number): Promise<readonly string[]>;
}

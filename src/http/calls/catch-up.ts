import type { FeedArchive } from '../../calls/feed/archive.ts';
import type { Feed, FeedEntry, FeedFilter } from '../../calls/feed/feed.ts';
import { type Clock, sleep } from '../../foundation/clock.ts';
import { settlesWithin } from '../../foundation/settles-within.ts';

/** Stored events that are read, and held for one reader, at once. */
const PAGE_EVENTS = 500;
/** Events are stored a moment after they are published: how often, and how many times, they are looked for again. */
const RETRY_MS = 250;
const RETRIES_MAX = 20;
const NOT_YET = 'the events after that are not stored yet';

interface CatchUpOptions {
  readonly feed: Pick<Feed, 'reaches' | 'isWhole'>;
  readonly archive: FeedArchive;
  readonly clock: Clock;
  readonly filter: FeedFilter & { readonly after: string };
  /** Takes some events; resolves with whether the reader wants more. */
  take(entries: readonly FeedEntry[]): Promise<boolean>;
}

/** How far a reader has caught up. */
interface CaughtUp {
  /** The id of the last event that it was given. */
  readonly last: string;
  /** Why events between `last` and those in memory are missing; null = none are. */
  readonly missing: Error | null;
}

/**
 * Gives a reader the stored events after `filter.after`, page by page, until memory has all that follows. Nothing comes
 * twice, for both have the same ids; nothing is lost in between either, unless the archive fails or stays behind.
 */
export async function catchUp(options: CatchUpOptions): Promise<CaughtUp> {
  const { feed, archive, clock, filter, take } = options;
  const { callId } = filter;
  const onlyOf = callId === undefined ? {} : { callId };
  let last = filter.after;
  try {
    if (callId === undefined && !(await archive.knows(last))) return { last, missing: null };
    let isSettled = false;
    for (let retries = 0; !feed.reaches(last); ) {
      const { entries, complete } = await archive.after(last, onlyOf, PAGE_EVENTS);
      if (entries.length > 0 && !(await take(entries))) break;
      last = entries.at(-1)?.id ?? last;
      if (!complete) continue;
      if (isSettled || feed.isWhole) break;
      if (callId !== undefined) {
        // Memory may have none of its events to tell by: it has what came after all that is stored now.
        isSettled = await settlesWithin(clock, archive.settled(), RETRIES_MAX * RETRY_MS);
        if (!isSettled) return { last, missing: new Error(NOT_YET) };
      } else {
        if (retries === RETRIES_MAX) return { last, missing: new Error(NOT_YET) };
        retries++;
        await sleep(clock, RETRY_MS);
      }
    }
    return { last, missing: null };
  } catch (error) {
    return { last, missing: error instanceof Error ? error : new Error(String(error)) };
  }
}

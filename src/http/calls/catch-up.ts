import type { FeedArchive } from '../../calls/feed/archive.ts';
import type { Feed, FeedEntry, FeedFilter } from '../../calls/feed/feed.ts';
import { type Clock, sleep } from '../../foundation/clock.ts';

/** Stored events that are read, and held for one reader, at once. */
const PAGE_EVENTS = 500;
/** Events are stored a moment after they are published: how often, and how many times, they are looked for again. */
const RETRY_MS = 250;
const RETRIES_MAX = 20;

interface CatchUpOptions {
  readonly feed: Pick<Feed, 'reaches' | 'isWhole'>;
  readonly archive: FeedArchive;
  readonly clock: Clock;
  readonly filter: FeedFilter & { readonly after: string };
  /** Takes some events; resolves with whether the reader wants more. */
  take(entries: readonly FeedEntry[]): Promise<boolean>;
}

/**
 * Gives a reader the stored events after `filter.after`, page by page, until memory has all that follows. Returns the
 * id after which it has. Nothing is lost in between and nothing comes twice, for both have the same ids.
 * @throws the error of the archive
 */
export async function catchUp({ feed, archive, clock, filter, take }: CatchUpOptions): Promise<string> {
  const { callId } = filter;
  const onlyOf = callId === undefined ? {} : { callId };
  let last = filter.after;
  if (callId === undefined && !(await archive.knows(last))) return last;
  for (let retries = 0; !feed.reaches(last); ) {
    const { entries, complete } = await archive.after(last, onlyOf, PAGE_EVENTS);
    if (entries.length > 0 && !(await take(entries))) return last;
    last = entries.at(-1)?.id ?? last;
    if (!complete) continue;
    if (callId !== undefined || feed.isWhole || retries === RETRIES_MAX) return last;
    retries++;
    await sleep(clock, RETRY_MS);
  }
  return last;
}

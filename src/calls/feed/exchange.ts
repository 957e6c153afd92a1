/** What the feed of one gateway needs of the one that all gateways have together. */
import type { FeedEvent } from './events.ts';
import type { Ahead } from './feed-position.ts';

/** An event that this gateway published. Its id comes later where several gateways share the feed. */
export interface OwnEntry {
  /** The id in the feed; null = it has none yet. */
  id: string | null;
  readonly event: FeedEvent;
  readonly json: string;
  /** It never gets an id: too many waited for one, or the database refused it. */
  isLost?: boolean;
  /**
   * It got its id when others had told the end of its call, for its gateway could not be reached: what is stored of it
   * and what others read says so.
   */
  isLate?: boolean;
}

/** The JSON of an event that comes late. */
export function lateJson(json: string): string {
  return `${json.slice(0, -1)},"late":true}`;
}

/** An event in the order that all gateways share, as readers get it. */
export interface PlacedEntry {
  readonly id: string;
  readonly event: FeedEvent;
  readonly json: string;
  /** Who published it, and where it is among the events of that gateway. */
  readonly gateway: string;
  readonly localNumber: number;
  /** Its number in the common order; null = it has none yet, and was shown here alone. */
  readonly number: number | null;
  /** All events up to this number have been told here. Never shrinks from one entry to the next. */
  readonly reached: number;
  /** What was told here beyond that. */
  readonly ahead: Ahead | null;
}

/** The feed that several gateways have together. */
export interface FeedExchange {
  /** The epoch of all its ids. */
  readonly epoch: string;
  /** All events up to this number were told before this gateway began to follow. */
  readonly start: number;
  /** No new call should come in: soon its events could not be kept. */
  readonly isFull: boolean;
  /** Takes an event of this gateway. Never throws, and never waits. */
  append(entry: OwnEntry): void;
  /** Nobody gets the events of this call any more. */
  forget(callId: string): void;
}

/** What a reader is told of the feed itself: whether events of other gateways come. */
export interface FeedNotice {
  readonly type: 'feed.degraded' | 'feed.restored';
  /** ISO 8601: since when nothing comes from other gateways, and nothing goes to them. */
  readonly since: string;
}

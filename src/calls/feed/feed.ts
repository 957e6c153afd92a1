/**
 * The caption feed: delivers the events of all calls, in order, to all readers. Each event gets an id and is serialised
 * once. The latest events are kept so that a reader can resume after a disconnect. Readers own their sockets and their
 * limits: the feed buffers nothing for them.
 */
import type { FeedEvent } from './events.ts';

/** An event as readers get it. */
export interface FeedEntry {
  /** `<epoch>-<n>`, n counting from 1. */
  readonly id: string;
  readonly event: FeedEvent;
  /** The event as JSON, made once for all readers. */
  readonly json: string;
}

/** Takes one entry; it must not block. One that throws is dropped. */
type FeedReader = (entry: FeedEntry) => void;

/**
 * `callId` = only the events of this call; `after` = first replay the entries after the one with this id; `allows` =
 * only the entries for which it is true.
 */
export interface FeedFilter {
  readonly callId?: string;
  readonly after?: string;
  readonly allows?: (entry: FeedEntry) => boolean;
}

interface Subscription {
  readonly callId: string | undefined;
  readonly allows: FeedFilter['allows'];
  readonly reader: FeedReader;
  /** The number of the last entry that this reader was given, or that its filter skipped. */
  cursor: number;
}

const ID_NUMBER = /^[1-9]\d{0,15}$/;

export class Feed {
  readonly #history: number;
  readonly #epoch: string;
  /** Entry n lies at `n % history`, so the ring holds the last `history` entries. */
  readonly #ring: FeedEntry[] = [];
  readonly #subscriptions = new Set<Subscription>();
  #last = 0;

  /**
   * `history` = how many entries are kept for resuming (at least 1); `epoch` = a name for this run of the program,
   * different at each start.
   */
  constructor(options: { history: number; epoch: string }) {
    this.#history = options.history;
    this.#epoch = options.epoch;
  }

  /** Delivers `event` to every reader whose filter it passes. Never throws. */
  publish(event: FeedEvent): void {
    const number = this.#last + 1;
    this.#ring[number % this.#history] = { id: `${this.#epoch}-${number}`, event, json: JSON.stringify(event) };
    this.#last = number;
    for (const subscription of this.#subscriptions) this.#catchUp(subscription);
  }

  /**
   * Calls `reader` with every entry that passes `filter`: first, before this returns, with the kept entries after
   * `filter.after`, then with new ones. If this feed did not issue that id, or the entry is no longer kept, all kept
   * entries are replayed. Without `after` the reader gets new entries only. Returns a function that ends the
   * subscription.
   */
  subscribe(filter: FeedFilter, reader: FeedReader): () => void {
    const cursor = filter.after === undefined ? this.#last : this.#numberOf(filter.after);
    const subscription: Subscription = { callId: filter.callId, allows: filter.allows, reader, cursor };
    this.#subscriptions.add(subscription);
    this.#catchUp(subscription);
    return () => void this.#subscriptions.delete(subscription);
  }

  /**
   * The cursor moves before the reader is called, so that a reader that publishes or subscribes inside its call gets
   * every entry exactly once.
   */
  #catchUp(subscription: Subscription): void {
    subscription.cursor = Math.max(subscription.cursor, this.#last - this.#history);
    while (subscription.cursor < this.#last && this.#subscriptions.has(subscription)) {
      subscription.cursor += 1;
      const entry = this.#ring[subscription.cursor % this.#history];
      if (entry !== undefined && passes(entry, subscription)) this.#deliver(entry, subscription);
    }
  }

  #deliver(entry: FeedEntry, subscription: Subscription): void {
    try {
      subscription.reader(entry);
    } catch {
      this.#subscriptions.delete(subscription);
    }
  }

  /** The number inside one of our ids; 0 for anything else. */
  #numberOf(id: string): number {
    const prefix = `${this.#epoch}-`;
    const digits = id.slice(prefix.length);
    if (!id.startsWith(prefix) || !ID_NUMBER.test(digits)) return 0;
    const number = Number(digits);
    return number <= this.#last ? number : 0;
  }
}

function passes(entry: FeedEntry, { callId, allows }: Subscription): boolean {
  return (callId === undefined || callId === entry.event.callId) && (allows === undefined || allows(entry));
}

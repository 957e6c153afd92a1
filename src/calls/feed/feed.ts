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

/** Which entries a reader gets. */
export interface FeedFilter {
  /** Only the events of this call. */
  readonly callId?: string;
  /** First replay the entries after the one with this id. */
  readonly after?: string;
  /** Of those that remain, only the ones that the reader may see. Must not throw. */
  readonly allows?: (entry: FeedEntry) => boolean;
}

interface Subscription extends Pick<FeedFilter, 'callId' | 'allows'> {
  readonly reader: FeedReader;
  /** The number of the last entry that this reader was given, or that its filter skipped. */
  cursor: number;
}

const ID_NUMBER = /^[1-9]\d{0,15}$/;

interface FeedOptions {
  /** How many entries are kept for resuming (at least 1). */
  readonly history: number;
  /** A name for this run of the program, different at each start. */
  readonly epoch: string;
  /**
   * What is published in place of an event: itself, nothing, or others, in this order. Called before the event gets an
   * id; must not throw. Left out = every event is published as it is.
   */
  readonly rewrite?: (event: FeedEvent) => readonly FeedEvent[];
}

export class Feed {
  readonly epoch: string;
  readonly #history: number;
  readonly #rewrite: FeedOptions['rewrite'];
  /** Entry n lies at `n % history`, so the ring holds the last `history` entries; null = forgotten. */
  readonly #ring: (FeedEntry | null)[] = [];
  readonly #subscriptions = new Set<Subscription>();
  #last = 0;

  constructor(options: FeedOptions) {
    this.epoch = options.epoch;
    this.#history = options.history;
    this.#rewrite = options.rewrite;
  }

  /** Delivers `event` to every reader whose filter it passes. Never throws. */
  publish(event: FeedEvent): void {
    if (this.#rewrite === undefined) this.#publish(event);
    else for (const rewritten of this.#rewrite(event)) this.#publish(rewritten);
  }

  /** Whether every event of this run of the program is still kept. */
  get isWhole(): boolean {
    return this.#last <= this.#history;
  }

  /** Whether every event after the one with this id is still kept. */
  reaches(id: string): boolean {
    const number = this.#numberOf(id);
    return number > 0 && number >= this.#last - this.#history;
  }

  /** Takes all kept events of a call out of memory. No reader gets them any more; ids stay as they are. */
  forget(callId: string): void {
    for (const [index, entry] of this.#ring.entries()) {
      if (entry?.event.callId === callId) this.#ring[index] = null;
    }
  }

  /**
   * Calls `reader` with every entry that passes `filter`: first, before this returns, with the kept entries after
   * `filter.after`, then with new ones. If this feed did not issue that id, or the entry is no longer kept, all kept
   * entries are replayed. Without `after` the reader gets new entries only. Returns a function that ends the
   * subscription.
   */
  subscribe(filter: FeedFilter, reader: FeedReader): () => void {
    const cursor = filter.after === undefined ? this.#last : this.#numberOf(filter.after);
    const subscription: Subscription = { ...filter, reader, cursor };
    this.#subscriptions.add(subscription);
    this.#catchUp(subscription);
    return () => void this.#subscriptions.delete(subscription);
  }

  #publish(event: FeedEvent): void {
    const number = this.#last + 1;
    this.#ring[number % this.#history] = { id: `${this.epoch}-${number}`, event, json: JSON.stringify(event) };
    this.#last = number;
    for (const subscription of this.#subscriptions) this.#catchUp(subscription);
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
      if (entry && passes(entry, subscription)) this.#deliver(entry, subscription);
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
    const prefix = `${this.epoch}-`;
    const digits = id.slice(prefix.length);
    if (!id.startsWith(prefix) || !ID_NUMBER.test(digits)) return 0;
    const number = Number(digits);
    return number <= this.#last ? number : 0;
  }
}

function passes(entry: FeedEntry, { callId, allows }: Subscription): boolean {
  return (callId === undefined || callId === entry.event.callId) && (allows === undefined || allows(entry));
}

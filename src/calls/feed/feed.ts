/**
 * The caption feed: delivers the events of all calls, in order, to all readers. Each event gets an id and is serialised
 * once. The latest events are kept so that a reader can resume after a disconnect. Readers own their sockets and their
 * limits: the feed buffers nothing for them.
 *
 * Where several gateways share the feed, readers get the events of all of them in one order, a moment after they were
 * published. Who follows the calls of this gateway alone has its events at once, also while the others are away.
 */
import { LRUCache } from 'lru-cache';
import { Channel } from './channel.ts';
import type { FeedEvent } from './events.ts';
import type { FeedExchange, FeedNotice, OwnEntry, PlacedEntry } from './exchange.ts';
import { type FeedPosition, readFeedPosition } from './feed-position.ts';
import { Resume } from './resume.ts';

/** An event as readers get it. */
export interface FeedEntry {
  /** `<epoch>-<n>`, n counting from 1; {@link FeedPosition} has the other form. */
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

const DELETED_MAX = 1000;
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
  /** The feed that this gateway has together with others; left out = it has its own alone. */
  readonly exchange?: FeedExchange | null;
}

export class Feed {
  /** Of this run of the program; also of the ids, where the feed is this gateway's own. */
  readonly epoch: string;
  readonly #rewrite: FeedOptions['rewrite'];
  readonly #exchange: FeedExchange | null;
  readonly #told: Channel<FeedEntry>;
  /** Of this gateway alone; null = all are. */
  readonly #own: Channel<OwnEntry> | null;
  readonly #foreign = new Set<(event: FeedEvent) => void>();
  readonly #noticed = new Set<(notice: FeedNotice) => void>();
  readonly #named = new Set<() => void>();
  /** Calls that were deleted lately: what comes of one after that, on its way from another gateway, is not told. */
  readonly #deleted = new LRUCache<string, true>({ max: DELETED_MAX });
  /** All entries with a higher number are kept, but for {@link #fallen}. */
  #floor: number;
  /** The last entry that was no longer kept before it had a number. */
  #fallen: PlacedEntry | null = null;
  #notice: FeedNotice | null = null;

  constructor(options: FeedOptions) {
    this.epoch = options.epoch;
    this.#rewrite = options.rewrite;
    this.#exchange = options.exchange ?? null;
    this.#told = new Channel(options.history);
    this.#own = this.#exchange && new Channel(options.history);
    this.#floor = this.#exchange?.start ?? 0;
  }

  /** Delivers `event` to every reader whose filter it passes. Never throws. */
  publish(event: FeedEvent): void {
    if (this.#rewrite === undefined) this.#publish(event);
    else for (const rewritten of this.#rewrite(event)) this.#publish(rewritten);
  }

  /** Whether every event of this run of the program is still kept. */
  get isWhole(): boolean {
    return this.#told.dropped === 0;
  }

  /** No new call should come in: soon its events could not be kept. */
  get isFull(): boolean {
    return this.#exchange?.isFull === true;
  }

  /** Whether every event after the one with this id is still kept. */
  reaches(id: string): boolean {
    if (this.#exchange === null) {
      const number = this.#numberOf(id);
      return number > 0 && number >= this.#told.dropped;
    }
    if (this.#find(id) !== null) return true;
    const position = this.#positionOf(id);
    const floor = this.#fallen === null ? this.#floor : Math.max(this.#floor, this.#fallen.number ?? Infinity);
    return position !== null && position.number >= floor;
  }

  /** Whether the id is of an event of this feed that was not told here yet: another gateway may have told it. */
  isBeyond(id: string): boolean {
    if (this.#exchange === null || this.#find(id) !== null) return false;
    // Entries of a shared feed are placed ones.
    const last = this.#told.at(this.#told.last) as PlacedEntry | undefined;
    return (this.#positionOf(id)?.number ?? 0) > Math.max(this.#floor, last?.reached ?? 0);
  }

  /** Takes all kept events of a call out of memory. No reader gets them any more; ids stay as they are. */
  forget(callId: string): void {
    this.#told.forget(callId);
    this.#own?.forget(callId);
    this.#exchange?.forget(callId);
  }

  /**
   * Calls `reader` with every entry that passes `filter`: first, before this returns, with the kept entries after
   * `filter.after`, then with new ones. If this feed did not issue that id, or the entry is no longer kept, all kept
   * entries are replayed. Without `after` the reader gets new entries only. Returns a function that ends the
   * subscription.
   */
  subscribe(filter: FeedFilter, reader: FeedReader): () => void {
    const { after } = filter;
    if (after === undefined) return this.#subscribe(filter, reader, this.#told.last);
    if (this.#exchange === null) return this.#subscribe(filter, reader, this.#numberOf(after));
    const found = this.#find(after);
    if (found !== null) return this.#subscribe(filter, reader, found);
    const position = this.#positionOf(after);
    if (position === null) return this.#subscribe(filter, reader, 0);
    const resume = new Resume(position);
    // Entries of a shared feed are placed ones.
    const select = (entry: FeedEntry) => {
      const taken = resume.take(entry as PlacedEntry);
      return taken !== null && passes(taken, filter) ? taken : null;
    };
    return this.#told.subscribe({ reader, select, cursor: 0 });
  }

  /**
   * Calls `reader` with every event of this gateway from now on, at once when it is published. Returns a function that
   * ends the subscription.
   */
  subscribeOwn({ callId }: Pick<FeedFilter, 'callId'>, reader: (entry: OwnEntry) => void): () => void {
    if (this.#own === null) return this.subscribe(callId === undefined ? {} : { callId }, reader);
    const select = (entry: OwnEntry) => (callId === undefined || callId === entry.event.callId ? entry : null);
    return this.#own.subscribe({ reader, select, cursor: this.#own.last });
  }

  /** Calls `reader` with every event of another gateway from now on. */
  subscribeForeign(reader: (event: FeedEvent) => void): void {
    this.#foreign.add(reader);
  }

  /** Calls `listener` whenever events of this gateway got their ids, or were lost. */
  watchIds(listener: () => void): void {
    this.#named.add(listener);
  }

  /** Calls `listener` with what readers are to be told of the feed, now and whenever that changes. Returns its end. */
  watchNotices(listener: (notice: FeedNotice) => void): () => void {
    this.#noticed.add(listener);
    if (this.#notice !== null) listener(this.#notice);
    return () => void this.#noticed.delete(listener);
  }

  /** For the exchange: the next entry in the common order, or one that is shown here before it has its place. */
  deliver(entry: PlacedEntry): void {
    const isForeign = entry.gateway !== this.epoch;
    const { type, callId } = entry.event;
    if (type === 'call.deleted') {
      // Also where we deleted it: what others had told of it may have come since we forgot it.
      if (isForeign) this.forget(callId);
      else this.#told.forget(callId);
      this.#deleted.set(callId, true);
    } else if (type === 'call.started') this.#deleted.delete(callId);
    // Its gateway had not learnt of the deletion yet.
    else if (this.#deleted.has(callId)) return;
    this.#noteFallen(this.#told.append(entry) as PlacedEntry | null);
    if (isForeign) for (const reader of this.#foreign) reader(entry.event);
  }

  /** For the exchange: events of this gateway have their ids, or were lost. */
  noteIds(): void {
    for (const listener of this.#named) listener();
  }

  /** For the exchange. */
  tell(notice: FeedNotice): void {
    this.#notice = notice.type === 'feed.degraded' ? notice : null;
    for (const listener of this.#noticed) listener(notice);
  }

  #publish(event: FeedEvent): void {
    const json = JSON.stringify(event);
    if (this.#exchange === null) {
      this.#told.append({ id: `${this.epoch}-${this.#told.last + 1}`, event, json });
      return;
    }
    const entry: OwnEntry = { id: null, event, json };
    this.#exchange.append(entry);
    this.#own?.append(entry);
  }

  #subscribe(filter: FeedFilter, reader: FeedReader, cursor: number): () => void {
    return this.#told.subscribe({ reader, select: (entry) => (passes(entry, filter) ? entry : null), cursor });
  }

  #noteFallen(fallen: PlacedEntry | null): void {
    if (fallen === null) return;
    this.#floor = Math.max(this.#floor, fallen.reached, fallen.number ?? 0);
    if (fallen.number === null) this.#fallen = fallen;
  }

  /** The number inside one of our ids; 0 for anything else. */
  #numberOf(id: string): number {
    const prefix = `${this.epoch}-`;
    const digits = id.slice(prefix.length);
    if (!id.startsWith(prefix) || !ID_NUMBER.test(digits)) return 0;
    const number = Number(digits);
    return number <= this.#told.last ? number : 0;
  }

  /** Where the last entry is that was told here with this id. */
  #find(id: string): number | null {
    for (let at = this.#told.last; at > this.#told.dropped; at--) if (this.#told.at(at)?.id === id) return at;
    return null;
  }

  #positionOf(id: string): FeedPosition | null {
    const position = readFeedPosition(id);
    return position?.epoch === this.#exchange?.epoch ? position : null;
  }
}

function passes(entry: FeedEntry, { callId, allows }: FeedFilter): boolean {
  return (callId === undefined || callId === entry.event.callId) && (allows === undefined || allows(entry));
}

/**
 * A server that crashed has lost the table of the feed. What was in it and had not been read here is looked for in the
 * records, which the gateways catch up at that time.
 */
import type { FeedEvent } from '../../calls/feed/events.ts';
import type { FeedEntry } from '../../calls/feed/feed.ts';
import { readFeedPosition } from '../../calls/feed/feed-position.ts';
import type { Clock, Timer } from '../../foundation/clock.ts';

/** How often, and how many times, the records are looked at after a crash. */
const LOOK_MS = 1000;
const LOOKS_MAX = 60;
const EVENTS_AT_ONCE = 500;

/** The records, by the numbers of the feed. */
export interface StoredEvents {
  /** Stored events with the numbers from `after` + 1 to `below` - 1, in order. Rejects as the database does. */
  between(after: number, below: number, limit: number): Promise<readonly FeedEntry[]>;
}

interface FillingOptions {
  readonly stored: StoredEvents;
  readonly clock: Clock;
  readonly onFound: (found: { event: FeedEvent; json: string; number: number }) => void;
}

export class HoleFilling {
  readonly #options: FillingOptions;
  #isBroken = false;
  /** Where the hole begins; null = there is none. */
  #from: number | null = null;
  /** What was told since the break. */
  readonly #told = new Set<number>();
  #timer: Timer | null = null;
  #looks = 0;

  constructor(options: FillingOptions) {
    this.#options = options;
  }

  /** The connection broke: the table may be another one when it is back. */
  noteBreak(): void {
    this.#isBroken = true;
  }

  /** The event with this number was told. */
  noteTold(number: number): void {
    if (this.#isBroken || this.#from !== null) this.#told.add(number);
  }

  /** What is read after a break begins with the number `first`, and was read up to `cursor` before. */
  noteFirst(cursor: number, first: number): void {
    if (!this.#isBroken) return;
    this.#isBroken = false;
    if (first <= cursor + 1) return;
    this.#timer?.cancel();
    this.#looks = 0;
    // There may have been another crash a moment ago.
    this.#from = Math.min(this.#from ?? cursor, cursor);
    this.#schedule(this.#from, first);
  }

  close(): void {
    this.#end();
    this.#looks = LOOKS_MAX;
  }

  #end(): void {
    this.#timer?.cancel();
    this.#from = null;
    this.#told.clear();
  }

  #schedule(after: number, below: number): void {
    this.#timer = this.#options.clock.after(LOOK_MS, () => void this.#look(after, below), true);
  }

  async #look(after: number, below: number): Promise<void> {
    this.#looks++;
    for (let from: number | null = after; from !== null && this.#looks <= LOOKS_MAX; ) {
      const entries: readonly FeedEntry[] = await this.#options.stored
        .between(from, below, EVENTS_AT_ONCE)
        .catch(() => []);
      for (const entry of entries) this.#tell(entry);
      const last = entries.length < EVENTS_AT_ONCE ? undefined : entries.at(-1);
      from = last === undefined ? null : numberOf(last);
    }
    if (this.#looks < LOOKS_MAX) this.#schedule(after, below);
    else this.#end();
  }

  #tell(entry: FeedEntry): void {
    const number = numberOf(entry);
    if (this.#looks > LOOKS_MAX || this.#told.has(number)) return;
    this.#told.add(number);
    this.#options.onFound({ event: entry.event, json: entry.json, number });
  }
}

function numberOf({ id }: FeedEntry): number {
  return readFeedPosition(id)?.number ?? 0;
}

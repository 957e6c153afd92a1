import type { PlacedEntry } from './exchange.ts';
import { type Ahead, type FeedPosition, formatFeedPosition } from './feed-position.ts';

/**
 * A reader that was told up to `position`, here or by another gateway: passes over what it has, and names what it gets
 * so that it can go on from there. Entries are to be offered in their order.
 */
export class Resume {
  readonly #epoch: string;
  readonly #number: number;
  /** Null when the common order has come to it. */
  #ahead: Ahead | null;

  constructor({ epoch, number, ahead }: FeedPosition) {
    this.#epoch = epoch;
    this.#number = number;
    this.#ahead = ahead;
  }

  /** The entry as this reader gets it; null = it has it. */
  take<Entry extends PlacedEntry>(entry: Entry): Entry | null {
    const isKnown = this.#isAhead(entry);
    if (isKnown || (entry.number !== null && entry.number <= this.#number)) return null;
    if (entry.reached >= this.#number && this.#ahead === null) return entry;
    const number = Math.max(entry.reached, this.#number);
    const id = formatFeedPosition({ epoch: this.#epoch, number, ahead: entry.ahead ?? this.#ahead });
    return { ...entry, id };
  }

  #isAhead({ gateway, localNumber }: PlacedEntry): boolean {
    const ahead = this.#ahead;
    if (ahead === null || gateway !== ahead.gateway) return false;
    if (localNumber >= ahead.localNumber) this.#ahead = null;
    return localNumber <= ahead.localNumber;
  }
}

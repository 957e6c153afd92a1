/** The queue in which batch jobs wait for an engine: bounded, and fair among tenants. */
import { compareRanked, type Ranked } from './urgency-queue.ts';

/** What decides the order of the queue, besides the rank. */
export interface Owned extends Ranked {
  /** The tenant whose job it is. */
  readonly tenant: string;
}

/**
 * Tenants take turns, one job each, however much each has waiting: an hour of audio delays another tenant's ten seconds
 * by one piece at a time. Among the jobs of one tenant the earliest deadline goes first; deadlines do not move, so
 * whatever waits ages to the front.
 */
export class FairQueue<T extends Owned> {
  readonly #capacity: number;
  /** Jobs of each tenant that has any, in order; the tenants in the order of their turns. */
  readonly #lines = new Map<string, T[]>();
  #size = 0;

  /** @param capacity items that may wait, at least 1 */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#size;
  }

  /** Adds `item`. Returns it when the queue is full, else null. */
  push(item: T): T | null {
    if (this.#size >= this.#capacity) return item;
    const line = this.#lines.get(item.tenant);
    if (line === undefined) this.#lines.set(item.tenant, [item]);
    else insert(line, item);
    this.#size++;
    return null;
  }

  /** The item that {@link pop} would take. */
  peek(): T | undefined {
    return this.#lines.values().next().value?.[0];
  }

  /** Takes the next item; its tenant's turn is over. */
  pop(): T | undefined {
    const item = this.peek();
    if (item === undefined) return undefined;
    this.remove(item);
    const line = this.#lines.get(item.tenant);
    if (line !== undefined) {
      this.#lines.delete(item.tenant);
      this.#lines.set(item.tenant, line);
    }
    return item;
  }

  /** Takes `item` out; false when it does not wait here. */
  remove(item: T): boolean {
    const line = this.#lines.get(item.tenant) ?? [];
    const index = line.indexOf(item);
    if (index === -1) return false;
    line.splice(index, 1);
    if (line.length === 0) this.#lines.delete(item.tenant);
    this.#size--;
    return true;
  }

  /** Everything that waits, in no particular order. */
  [Symbol.iterator](): IterableIterator<T> {
    return [...this.#lines.values()].flat().values();
  }
}

function insert<T extends Owned>(line: T[], item: T): void {
  const index = line.findLastIndex((other) => compareRanked(other, item) <= 0);
  line.splice(index + 1, 0, item);
}

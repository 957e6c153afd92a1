/** The queue in which jobs wait for an engine: bounded, most urgent first. */
import { isDroppable, URGENCIES, type Urgency } from '../../engine/contract.ts';

/** What decides the order of the queue: urgency, then deadline, then arrival. */
export interface Ranked {
  readonly urgency: Urgency;
  /** Monotonic ms. */
  readonly dueAtMs: number;
  /** Ascending in the order of arrival; no two items share one. */
  readonly id: number;
}

/** Rank of each urgency, 0 = most urgent. */
const RANKS = Object.freeze(
  Object.fromEntries(URGENCIES.map((urgency, rank) => [urgency, rank])) as Record<Urgency, number>,
);

/** Whether `a` is at least as urgent as `b`, whatever the deadlines. */
export function isAsUrgent(a: Urgency, b: Urgency): boolean {
  return RANKS[a] <= RANKS[b];
}

/** Negative when `a` goes before `b`. */
export function compareRanked(a: Ranked, b: Ranked): number {
  return RANKS[a.urgency] - RANKS[b.urgency] || a.dueAtMs - b.dueAtMs || a.id - b.id;
}

/**
 * A binary heap of at most `capacity` items. Removal and overflow search it whole: it holds hundreds, and both are
 * rare.
 */
export class UrgencyQueue<T extends Ranked> {
  readonly #capacity: number;
  /** Item i goes before items 2i+1 and 2i+2. */
  readonly #heap: T[] = [];

  /** @param capacity items that may wait, at least 1 */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#heap.length;
  }

  /**
   * Adds `item`. Over the bound one item has to go and is returned, out of the queue: the least urgent of those
   * that may be dropped, which may be `item` itself, or, where none of them waits, `item`. Otherwise null.
   */
  push(item: T): T | null {
    if (this.#heap.length < this.#capacity) {
      this.#add(item);
      return null;
    }
    const dropped = this.#leastUrgentDroppable(item);
    if (dropped === null || dropped === item) return item;
    this.remove(dropped);
    this.#add(item);
    return dropped;
  }

  /** The item that {@link pop} would take. */
  peek(): T | undefined {
    return this.#heap[0];
  }

  /** Takes the most urgent item. */
  pop(): T | undefined {
    const first = this.#heap[0];
    if (first !== undefined) this.#removeAt(0);
    return first;
  }

  /** Everything that waits, in no particular order. */
  [Symbol.iterator](): IterableIterator<T> {
    return this.#heap.values();
  }

  /** Whether `item` waits here. */
  has(item: T): boolean {
    return this.#heap.includes(item);
  }

  /** Takes `item` out; false when it does not wait here. */
  remove(item: T): boolean {
    const index = this.#heap.indexOf(item);
    if (index === -1) return false;
    this.#removeAt(index);
    return true;
  }

  #leastUrgentDroppable(newcomer: T): T | null {
    let worst: T | null = isDroppable(newcomer.urgency) ? newcomer : null;
    for (const item of this.#heap) {
      if (isDroppable(item.urgency) && (worst === null || compareRanked(item, worst) > 0)) worst = item;
    }
    return worst;
  }

  #add(item: T): void {
    this.#heap.push(item);
    this.#rise(this.#heap.length - 1);
  }

  #removeAt(index: number): void {
    const last = this.#heap.pop();
    if (last === undefined || index === this.#heap.length) return;
    this.#heap[index] = last;
    this.#rise(index);
    this.#sink(index);
  }

  #rise(start: number): void {
    for (let index = start; index > 0; ) {
      const parent = (index - 1) >> 1;
      if (!this.#swapIfBefore(index, parent)) return;
      index = parent;
    }
  }

  #sink(start: number): void {
    for (let index = start; ; ) {
      const left = 2 * index + 1;
      const child = this.#goesBefore(left + 1, left) ? left + 1 : left;
      if (!this.#swapIfBefore(child, index)) return;
      index = child;
    }
  }

  #swapIfBefore(lower: number, upper: number): boolean {
    const low = this.#heap[lower];
    const up = this.#heap[upper];
    if (low === undefined || up === undefined || compareRanked(low, up) >= 0) return false;
    this.#heap[lower] = up;
    this.#heap[upper] = low;
    return true;
  }

  #goesBefore(index: number, other: number): boolean {
    const item = this.#heap[index];
    const rival = this.#heap[other];
    return item !== undefined && rival !== undefined && compareRanked(item, rival) < 0;
  }
}

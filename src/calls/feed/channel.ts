/** The latest entries, and those who read them: each gets every entry once, in order. */

/** Takes one entry; it must not block. One that throws is dropped. */
export type ChannelReader<Entry> = (entry: Entry) => void;

/** One reader. */
export interface ChannelSubscription<Entry> {
  readonly reader: ChannelReader<Entry>;
  /** What of an entry the reader gets; null = nothing. Must not throw. */
  readonly select: (entry: Entry) => Entry | null;
  /** The number of the last entry that this reader was given, or that its filter skipped. */
  cursor: number;
}

export class Channel<Entry extends { readonly event: { readonly callId: string } }> {
  readonly #history: number;
  /** Entry n, counted from 1, lies at `n % history`, so the ring holds the last `history` ones; null = forgotten. */
  readonly #ring: (Entry | null)[] = [];
  readonly #subscriptions = new Set<ChannelSubscription<Entry>>();
  #last = 0;

  /** `history` = how many entries are kept (at least 1). */
  constructor(history: number) {
    this.#history = history;
  }

  /** How many entries there were. */
  get last(): number {
    return this.#last;
  }

  /** How many of them are no longer kept. */
  get dropped(): number {
    return Math.max(this.#last - this.#history, 0);
  }

  /** The entry with this number; null = it is forgotten; undefined = it is not kept. */
  at(number: number): Entry | null | undefined {
    return number > this.dropped && number <= this.#last ? this.#ring[number % this.#history] : undefined;
  }

  /** Takes all kept entries of a call out. Nobody gets them any more; numbers stay as they are. */
  forget(callId: string): void {
    for (const [index, entry] of this.#ring.entries()) if (entry?.event.callId === callId) this.#ring[index] = null;
  }

  /** Adds an entry and gives it to all readers. Returns the one that fell out for it, if that was not forgotten. */
  append(entry: Entry): Entry | null {
    const number = this.#last + 1;
    const fallen = this.#ring[number % this.#history] ?? null;
    this.#ring[number % this.#history] = entry;
    this.#last = number;
    for (const subscription of this.#subscriptions) this.#catchUp(subscription);
    return fallen;
  }

  /**
   * Gives `subscription` what is kept after its cursor, before this returns, and then what comes. Returns a function
   * that ends it.
   */
  subscribe(subscription: ChannelSubscription<Entry>): () => void {
    this.#subscriptions.add(subscription);
    this.#catchUp(subscription);
    return () => void this.#subscriptions.delete(subscription);
  }

  /**
   * The cursor moves before the reader is called, so that a reader that publishes or subscribes inside its call gets
   * every entry exactly once.
   */
  #catchUp(subscription: ChannelSubscription<Entry>): void {
    subscription.cursor = Math.max(subscription.cursor, this.#last - this.#history);
    while (subscription.cursor < this.#last && this.#subscriptions.has(subscription)) {
      subscription.cursor += 1;
      const entry = this.#ring[subscription.cursor % this.#history];
      const selected = entry ? subscription.select(entry) : null;
      if (selected !== null) this.#deliver(selected, subscription);
    }
  }

  #deliver(entry: Entry, subscription: ChannelSubscription<Entry>): void {
    try {
      subscription.reader(entry);
    } catch {
      this.#subscriptions.delete(subscription);
    }
  }
}

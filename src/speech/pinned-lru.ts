/** A cache limited by bytes in which some names are pinned: those go last. */

interface PinnedLruOptions<V> {
  readonly maxBytes: number;
  bytesOf(value: V, name: string): number;
  /** A name has gone: pushed out or deleted. */
  onGone?(name: string): void;
  /** There was no room for a pinned name: the pinned ones alone are too many. */
  onTooManyPinned?(): void;
}

/**
 * The least recently used go first; the pinned ones only where they alone are too many. Where they leave no room, the
 * others are not kept.
 */
export class PinnedLru<V> {
  readonly #options: PinnedLruOptions<V>;
  /** In the order of their use, the latest last. */
  readonly #loose = new Map<string, V>();
  readonly #pinned = new Map<string, V>();
  #isPinned: (name: string) => boolean = () => false;
  #bytes = 0;

  constructor(options: PinnedLruOptions<V>) {
    this.#options = options;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#loose.size + this.#pinned.size;
  }

  /** Pins the names of which `isPinned` is true, in place of those before. */
  pin(isPinned: (name: string) => boolean): void {
    this.#isPinned = isPinned;
    for (const [name, value] of [...this.#pinned]) this.#move(name, value, this.#pinned);
    for (const [name, value] of [...this.#loose]) this.#move(name, value, this.#loose);
  }

  /** Counts as a use. */
  get(name: string): V | undefined {
    const held = this.#holder(name);
    const value = held?.get(name);
    if (held === null || value === undefined) return undefined;
    held.delete(name);
    held.set(name, value);
    return value;
  }

  peek(name: string): V | undefined {
    return this.#holder(name)?.get(name);
  }

  has(name: string): boolean {
    return this.#holder(name) !== null;
  }

  /** Keeps a value, unless it alone is too large, or the pinned ones leave no room for it. */
  set(name: string, value: V): void {
    const bytes = this.#options.bytesOf(value, name);
    const before = this.peek(name);
    if (bytes > this.#options.maxBytes) {
      if (this.#isPinned(name)) this.#options.onTooManyPinned?.();
      this.delete(name);
      return;
    }
    if (before !== undefined) {
      this.#bytes -= this.#options.bytesOf(before, name);
      this.#holder(name)?.delete(name);
    }
    (this.#isPinned(name) ? this.#pinned : this.#loose).set(name, value);
    this.#bytes += bytes;
    while (this.#bytes > this.#options.maxBytes) this.#pushOut(name);
  }

  /** Returns whether it was there. */
  delete(name: string): boolean {
    const held = this.#holder(name);
    const value = held?.get(name);
    if (held === null || value === undefined) return false;
    held.delete(name);
    this.#bytes -= this.#options.bytesOf(value, name);
    this.#options.onGone?.(name);
    return true;
  }

  clear(): void {
    for (const name of this.names()) this.delete(name);
  }

  names(): string[] {
    return [...this.#pinned.keys(), ...this.#loose.keys()];
  }

  /** The pinned ones, then the others, each the latest first; at most `max`. */
  latest(max: number): [string, V][] {
    const found = [...this.#pinned].toReversed().slice(0, max);
    return [...found, ...[...this.#loose].toReversed().slice(0, max - found.length)];
  }

  #holder(name: string): Map<string, V> | null {
    if (this.#pinned.has(name)) return this.#pinned;
    return this.#loose.has(name) ? this.#loose : null;
  }

  #move(name: string, value: V, from: Map<string, V>): void {
    const to = this.#isPinned(name) ? this.#pinned : this.#loose;
    if (to === from) return;
    from.delete(name);
    to.set(name, value);
  }

  /** `kept` stays, unless only pinned ones could go in its place. */
  #pushOut(kept: string): void {
    const loose = oldest(this.#loose, kept);
    if (loose === null && this.#pinned.has(kept)) this.#options.onTooManyPinned?.();
    this.delete(loose ?? (this.#pinned.has(kept) ? (oldest(this.#pinned, kept) ?? kept) : kept));
  }
}

/** The first name but `kept`; null = there is none. */
function oldest(held: ReadonlyMap<string, unknown>, kept: string): string | null {
  for (const name of held.keys()) if (name !== kept) return name;
  return null;
}

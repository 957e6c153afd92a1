/** Which packets of a stream have come before (RFC 3711 §3.3.2). */

/** Indices that are remembered below the highest one: more than half a second of packets of 20 ms. */
const WINDOW = 128;
const WORD_BITS = 32;

export class ReplayWindow {
  #highest = -1;
  readonly #words = new Uint32Array(WINDOW / WORD_BITS);

  /** The highest index so far; -1 before the first. */
  get highest(): number {
    return this.#highest;
  }

  /** Whether `index` may still come: it has not come before, and is not too old to know. */
  admits(index: number): boolean {
    if (index > this.#highest) return true;
    return index > this.#highest - WINDOW && !this.#has(index);
  }

  /** Notes an index that {@link admits} allows. */
  add(index: number): void {
    if (index > this.#highest) {
      const from = Math.max(this.#highest + 1, index - WINDOW + 1);
      for (let each = from; each < index; each++) this.#set(each, false);
      this.#highest = index;
    }
    this.#set(index, true);
  }

  #has(index: number): boolean {
    return ((this.#words[this.#wordOf(index)] ?? 0) & (1 << (index % WORD_BITS))) !== 0;
  }

  #set(index: number, isSet: boolean): void {
    const word = this.#wordOf(index);
    const bit = 1 << (index % WORD_BITS);
    const before = this.#words[word] ?? 0;
    this.#words[word] = isSet ? before | bit : before & ~bit;
  }

  #wordOf(index: number): number {
    return Math.floor((index % WINDOW) / WORD_BITS);
  }
}

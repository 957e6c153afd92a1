/** Cuts a track into blocks of one length, whatever the lengths in which it comes. */
export class SampleBlocks {
  readonly #block: Int16Array;
  #filled = 0;

  /** @param size samples of a block */
  constructor(size: number) {
    this.#block = new Int16Array(size);
  }

  /** Calls `onBlock` with each block that is full; its array is used again afterwards. */
  push(samples: Int16Array, onBlock: (block: Int16Array) => void): void {
    for (let at = 0; at < samples.length; ) {
      const part = samples.subarray(at, at + this.#block.length - this.#filled);
      this.#block.set(part, this.#filled);
      at += part.length;
      this.#filled += part.length;
      if (this.#filled < this.#block.length) return;
      this.#filled = 0;
      onBlock(this.#block);
    }
  }

  /** What is not a whole block is dropped. */
  clear(): void {
    this.#filled = 0;
  }
}

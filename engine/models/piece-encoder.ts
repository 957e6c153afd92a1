/**
 * Text to tokens, for vocabularies that were learnt by merging pairs (SentencePiece's BPE). Their tokens stand in the
 * order in which the merges were learnt, so the vocabulary alone says which pair is merged first.
 * https://arxiv.org/abs/1808.06226
 */

/** What such a vocabulary writes for a space. */
export const SPACE_MARK = '\u2581';

/** No piece reaches from one word into the next. What is left is short: merging takes time with the square of it. */
const WORDS = /(?<!\u2581)\u2581*[^\u2581]{1,200}|(?<!\u2581)\u2581+/gu;

/** Encodes by a vocabulary's pieces. */
export class PieceEncoder {
  readonly #ids = new Map<string, number>();

  /** @param pieces what each token writes, {@link SPACE_MARK} for a space; of equal ones the first is used */
  constructor(pieces: Iterable<string>) {
    let id = 0;
    for (const piece of pieces) {
      if (!this.#ids.has(piece)) this.#ids.set(piece, id);
      id++;
    }
  }

  /** The tokens of `text`, with its spaces; empty where a character cannot be written. */
  encode(text: string): readonly number[] {
    const words = text.replaceAll(' ', SPACE_MARK).match(WORDS) ?? [];
    const ids = words.flatMap((word) => this.#encodeWord(word));
    return ids.includes(-1) ? [] : ids;
  }

  #encodeWord(word: string): number[] {
    const symbols = Array.from(word);
    const pairs = symbols.map((_, at) => this.#pairAt(symbols, at));
    for (let at = firstOf(pairs); pairs[at] !== undefined; at = firstOf(pairs)) {
      symbols.splice(at, 2, `${symbols[at]}${symbols[at + 1]}`);
      pairs.splice(at, 2, this.#pairAt(symbols, at));
      if (at > 0) pairs[at - 1] = this.#pairAt(symbols, at - 1);
    }
    return symbols.flatMap((symbol) => this.#ids.get(symbol) ?? this.#bytesOf(symbol));
  }

  /** The token that two symbols merge into; undefined = they do not. */
  #pairAt(symbols: readonly string[], at: number): number | undefined {
    return at + 1 < symbols.length ? this.#ids.get(`${symbols[at]}${symbols[at + 1]}`) : undefined;
  }

  /** A character that has no token, byte by byte. */
  #bytesOf(symbol: string): number[] {
    return Array.from(new TextEncoder().encode(symbol), (byte) => {
      const hex = byte.toString(16).toUpperCase().padStart(2, '0');
      return this.#ids.get(`<0x${hex}>`) ?? -1;
    });
  }
}

/** Where the merge is that was learnt first; -1 = nothing can be merged. */
function firstOf(pairs: readonly (number | undefined)[]): number {
  let first = -1;
  let lowest = Number.POSITIVE_INFINITY;
  for (const [at, id] of pairs.entries()) if (id !== undefined && id < lowest) [first, lowest] = [at, id];
  return first;
}

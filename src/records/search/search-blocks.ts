/**
 * How a search walks through the calls: in blocks of calls, from the newest to the oldest. The full-text index has a
 * name of the block of each size beside every text, because FTS5 bounds a statement by what must occur, and not by row
 * numbers: it looks for the next match before it compares that one's number
 * (docs/internals/decisions).
 */

/** Texts are numbered `call_seq * TEXTS_PER_CALL + n`. */
export const TEXTS_PER_CALL = 2 ** 20;

/** Calls of a block, by level; each is a multiple of the one before. */
const BLOCK_CALLS = [2 ** 6, 2 ** 9, 2 ** 12, 2 ** 15] as const;
/** Beside the number of its block, the name of a level. */
const LEVEL_NAMES = 'abcd';

/** With 20 texts a call some 10,000 texts: even the costliest search of them takes a few ms. */
const FIRST_LEVEL = 1;
/** A slice that took longer is followed by smaller ones. */
const SLOW_MS = 12;
/** A slice that took less is followed by larger ones. */
const FAST_MS = 4;

/** A block of calls, whose numbers are in `[firstSeq, endSeq)`. */
export interface SearchBlock {
  /** As the index has it, e.g. `b17`. */
  readonly name: string;
  readonly firstSeq: number;
  readonly endSeq: number;
}

/** The block of a level that the call is in. */
function blockAt(seq: number, level: number): SearchBlock {
  const calls = BLOCK_CALLS[level] ?? BLOCK_CALLS[0];
  const number = Math.floor(seq / calls);
  return { name: `${LEVEL_NAMES[level]}${number}`, firstSeq: number * calls, endSeq: (number + 1) * calls };
}

/** The walk of one search. Its blocks grow while slices are fast, and shrink when one is slow. */
export class BlockWalk {
  #level = FIRST_LEVEL;
  /** All calls from here on are done. */
  #endSeq: number;

  /** Begins below the call with the number `endSeq`. */
  constructor(endSeq: number) {
    this.#endSeq = endSeq;
  }

  /** The number behind those of the calls that are left. */
  get endSeq(): number {
    return this.#endSeq;
  }

  /** The block that comes next: of calls from `endSeq` on in it, the search is done. */
  get block(): SearchBlock {
    return blockAt(this.#endSeq - 1, this.#level);
  }

  /** All calls with numbers from `firstSeq` on are done; the slice took `tookMs`. */
  advance(firstSeq: number, tookMs: number): void {
    this.#endSeq = firstSeq;
    const larger = BLOCK_CALLS[this.#level + 1];
    if (tookMs > SLOW_MS && this.#level > 0) this.#level -= 1;
    // A larger block that is partly done would be searched from its newest call on again.
    else if (tookMs < FAST_MS && larger !== undefined && firstSeq % larger === 0) this.#level += 1;
  }
}

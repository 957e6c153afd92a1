/**
 * How a search walks through the calls: in blocks of calls, from the newest to the oldest. The full-text index has a
 * name of the block of each size beside every text, because FTS5 bounds a statement by what must occur, and not by row
 * numbers: it looks for the next match before it compares that one's number
 * (decision 43).
 */
import type { DatabaseKind } from '../database-kind.ts';

/** Texts are numbered `call_seq * TEXTS_PER_CALL + n`. */
export const TEXTS_PER_CALL = 2 ** 20;

/** Calls of a block, by level; each is a multiple of the one before. */
const BLOCK_CALLS = [2 ** 6, 2 ** 9, 2 ** 12, 2 ** 15, 2 ** 18, 2 ** 21, 2 ** 24] as const;
/** Beside the number of its block, the name of a level. The index of SQLite has the first four. */
const LEVEL_NAMES = 'abcdefg';
const LARGEST_SQLITE_LEVEL = 3;

/**
 * With 20 texts a call some 10,000 texts: even the costliest search of them takes a few ms. Smaller blocks take hardly
 * less, and are for looking at one call.
 */
const FIRST_LEVEL = 1;
/**
 * PostgreSQL reads the lists of all words from end to end for each statement, whatever the block, and no other
 * statement waits meanwhile: the fewer blocks the better.
 */
const FIRST_POSTGRES_LEVEL = 3;
/** Slices that take longer are followed by smaller ones. */
const SLOW_MS = 15;
/** Slices that take less are followed by larger ones, of eight times as many calls, which then keep to 20 ms. */
const FAST_MS = 2.5;
/**
 * The fastest of so many slices counts: waiting for writes, and for a busy machine, makes some slower than they are.
 * Smaller slices would then only add to it, for each has a cost of its own.
 */
const SLICES_COMPARED = 4;

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

/** The smallest block around a call. */
export function blockAround(seq: number): SearchBlock {
  return blockAt(seq, 0);
}

/** The walk of one search. Its blocks grow while slices are fast, and shrink when they are slow. */
export class BlockWalk {
  readonly #kind: DatabaseKind;
  readonly #smallestLevel: number;
  #level: number;
  /** What the last slices of this level took. */
  #tookMs: number[] = [];
  /** All calls from here on are done. */
  #endSeq: number;

  /** Begins below the call with the number `endSeq`. */
  constructor(endSeq: number, kind: DatabaseKind) {
    this.#endSeq = endSeq;
    this.#kind = kind;
    this.#smallestLevel = kind === 'postgres' ? FIRST_POSTGRES_LEVEL : FIRST_LEVEL;
    this.#level = this.#smallestLevel;
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
    const isWhole = firstSeq <= this.block.firstSeq;
    this.#endSeq = firstSeq;
    if (this.#kind === 'postgres') this.#level = isWhole ? this.#larger : this.#smallestLevel;
    else this.#adapt(firstSeq, tookMs);
  }

  /** Where words are rare, the way to the server is what takes time: a few blocks are all calls. */
  get #larger(): number {
    return Math.min(this.#level + 1, BLOCK_CALLS.length - 1);
  }

  #adapt(firstSeq: number, tookMs: number): void {
    this.#tookMs = [...this.#tookMs, tookMs].slice(-SLICES_COMPARED);
    const fastestMs = Math.min(...this.#tookMs);
    const larger = this.#level < LARGEST_SQLITE_LEVEL ? BLOCK_CALLS[this.#level + 1] : undefined;
    if (fastestMs > SLOW_MS && this.#tookMs.length === SLICES_COMPARED) this.#change(-1);
    // A larger block that is partly done would be searched from its newest call on again.
    else if (fastestMs < FAST_MS && larger !== undefined && firstSeq % larger === 0) this.#change(1);
  }

  #change(by: 1 | -1): void {
    this.#level = Math.max(this.#level + by, this.#smallestLevel);
    this.#tookMs = [];
  }
}

/** How long a server takes to answer calls. */

const REMEMBERED = 100;
/** Fewer answers say nothing about the slow ones. */
const ENOUGH = 5;
/** The last answer counts so much in the usual time of a partial caption. */
const LAST_SHARE = 0.2;

/** An answer that takes longer than this share of the slow ones is hedged, within these bounds. */
const SLOW_SHARE = 0.95;
const HALF = 0.5;
const HEDGE_FACTOR = 1.5;
const HEDGE_MIN_MS = 300;
/** Also where too little is known. */
export const HEDGE_MAX_MS = 1500;

export class AnswerTimes {
  readonly #lastMs: number[] = [];
  #partialShare = 0;

  /** An answer came after `tookMs`. @param dueInMs when it was wanted, of a partial caption */
  note(tookMs: number, dueInMs: number | null): void {
    this.#lastMs.push(tookMs);
    if (this.#lastMs.length > REMEMBERED) this.#lastMs.shift();
    if (dueInMs !== null) this.#partialShare += (tookMs / Math.max(dueInMs, 1) - this.#partialShare) * LAST_SHARE;
  }

  /** How long partial captions take, as a share of the time from one to the next: above 1 they come late. */
  get partialShare(): number {
    return this.#partialShare;
  }

  /** 95 of 100 answers came within this many ms; null = too few came. */
  get slowMs(): number | null {
    return this.#shareWithin(SLOW_SHARE);
  }

  /** The same of half of them. */
  get usualMs(): number | null {
    return this.#shareWithin(HALF);
  }

  /** After this many ms without an answer somebody else is asked as well. */
  get hedgeMs(): number {
    const { slowMs } = this;
    if (slowMs === null) return HEDGE_MAX_MS;
    return Math.min(Math.max(slowMs * HEDGE_FACTOR, HEDGE_MIN_MS), HEDGE_MAX_MS);
  }

  #shareWithin(share: number): number | null {
    if (this.#lastMs.length < ENOUGH) return null;
    const sorted = [...this.#lastMs].sort((a, b) => a - b);
    return sorted[Math.ceil(sorted.length * share) - 1] ?? null;
  }
}

/**
 * A line with faults between a carrier and the server: messages arrive late, out of order, or not at all.
 */
import { seededRandom } from './random.ts';

/** How bad the line is. */
export interface LineFaults {
  /**
   * Each message is up to this much late; messages still never overtake each other by it, as they travel on one TCP
   * connection.
   */
  readonly jitterMs: number;
  /** Share (0–1) of media messages that never come out. */
  readonly lossShare: number;
  /** Share (0–1) of media messages that come out after the next one of their track. */
  readonly reorderShare: number;
  /** Equal seeds, equal faults. */
  readonly seed: number;
}

interface Underway {
  readonly message: string;
  readonly dueMs: number;
}

/**
 * Carries messages in order, with faults. Holds at most what `jitterMs` delays and one message per track. Times are ms
 * of the call.
 */
export class Line {
  readonly #faults: LineFaults;
  readonly #random: () => number;
  readonly #queue: Underway[] = [];
  readonly #heldBack = new Map<string, string>();
  #lastDueMs = 0;

  constructor(faults: LineFaults) {
    this.#faults = faults;
    this.#random = seededRandom(faults.seed);
  }

  /** A media message of `track`, sent at `atMs`: may be lost or come out after its successor. */
  putMedia(track: string, message: string, atMs: number): void {
    const heldBack = this.#heldBack.get(track);
    this.#heldBack.delete(track);
    if (this.#random() < this.#faults.lossShare) {
      if (heldBack !== undefined) this.#put(heldBack, atMs);
      return;
    }
    if (heldBack === undefined && this.#random() < this.#faults.reorderShare) {
      this.#heldBack.set(track, message);
      return;
    }
    this.#put(message, atMs);
    if (heldBack !== undefined) this.#put(heldBack, atMs);
  }

  /** Any other message, sent at `atMs`: comes out for certain, after everything that was put in before it. */
  put(message: string, atMs: number): void {
    for (const heldBack of this.#heldBack.values()) this.#put(heldBack, atMs);
    this.#heldBack.clear();
    this.#put(message, atMs);
  }

  /** Takes out the messages that have arrived by `nowMs`. */
  take(nowMs: number): string[] {
    const arrived = this.#queue.findIndex((underway) => underway.dueMs > nowMs);
    return this.#queue.splice(0, arrived === -1 ? this.#queue.length : arrived).map((underway) => underway.message);
  }

  /** When the next message arrives; null = none is underway. */
  get nextDueMs(): number | null {
    return this.#queue[0]?.dueMs ?? null;
  }

  #put(message: string, atMs: number): void {
    const jitterMs = this.#faults.jitterMs === 0 ? 0 : this.#random() * this.#faults.jitterMs;
    this.#lastDueMs = Math.max(this.#lastDueMs, atMs + jitterMs);
    this.#queue.push({ message, dueMs: this.#lastDueMs });
  }
}

/**
 * When the sound of a track reached us, where it had to wait before it was read: while the engines are behind, a
 * carrier's socket is not read, and what comes meanwhile waits in it. Captions are as late as the caller finds them
 * only if that time counts.
 */
import type { Clock } from '../../foundation/clock.ts';

/**
 * While sound waits, reading it makes up for so much at least within so long. Where it does not, nothing waits, and the
 * carrier has left sound out.
 */
const PROGRESS_MS = 60;
const PROGRESS_WITHIN_MS = 1000;

interface Chunk {
  readonly endMs: number;
  readonly arrivedMs: number;
}

/**
 * The arrivals of one track's chunks. A carrier sends as fast as its sound plays, so what waited came that much behind
 * the chunk before the pause.
 */
export class UnreadTime {
  readonly #clock: Clock;
  /** The latest chunk that had not waited. */
  #reference: Chunk | null = null;
  #pausedAtMs = 0;
  /** The socket was paused, and what waited in it has not all been read. */
  #isBehind = false;
  #isPaused = false;
  /** The shortest wait since reading went on, and when that was. */
  #least = { waitedMs: Number.POSITIVE_INFINITY, atMs: 0 };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The socket is not read from now on. What had been read of it may still come. */
  pause(): void {
    if (!this.#isBehind && !this.#isPaused) this.#pausedAtMs = this.#clock.nowMs();
    this.#isPaused = true;
  }

  /** The socket is read again, if it was not. */
  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#isBehind = true;
    this.#least = { waitedMs: Number.POSITIVE_INFINITY, atMs: this.#clock.nowMs() };
  }

  /** A chunk was read now that ends at `endMs` of the track's own time: the clock's ms at which it had come. */
  arrivedAtMs(endMs: number): number {
    const nowMs = this.#clock.nowMs();
    const arrivedMs =
      this.#isBehind && this.#reference !== null ? this.#estimate(endMs, this.#reference, nowMs) : nowMs;
    if (this.#isBehind && this.#hasCaughtUp(nowMs - arrivedMs, nowMs)) this.#isBehind = false;
    if (this.#isBehind) return arrivedMs;
    this.#reference = { endMs, arrivedMs: nowMs };
    return nowMs;
  }

  #estimate(endMs: number, reference: Chunk, nowMs: number): number {
    const inTurnMs = reference.arrivedMs + endMs - reference.endMs;
    return Math.min(Math.max(inTurnMs, this.#pausedAtMs), nowMs);
  }

  #hasCaughtUp(waitedMs: number, nowMs: number): boolean {
    if (waitedMs === 0) return true;
    if (this.#isPaused) return false;
    if (waitedMs < this.#least.waitedMs - PROGRESS_MS) this.#least = { waitedMs, atMs: nowMs };
    return nowMs - this.#least.atMs >= PROGRESS_WITHIN_MS;
  }
}

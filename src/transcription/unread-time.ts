/**
 * Estimates when the audio of a track reached us. While the engines are behind, a carrier's socket is not read, and
 * audio waits in it. The delay of captions must include that waiting time, because the caller notices it.
 */
import type { Clock } from '../foundation/clock.ts';

/**
 * While audio waits in the socket, reading must shorten the wait by at least this much within this time. If it does
 * not, nothing waits, and the carrier has skipped audio.
 */
const PROGRESS_MS = 60;
const PROGRESS_WITHIN_MS = 1000;

interface Chunk {
  readonly endMs: number;
  readonly arrivedMs: number;
}

/**
 * The arrivals of one track's chunks. A carrier sends in real time, so a chunk that waited arrived as long after the
 * chunk before the pause as it lies behind that in the audio.
 */
export class UnreadTime {
  readonly #clock: Clock;
  /** The latest chunk that had not waited. */
  #reference: Chunk | null = null;
  #pausedAtMs = 0;
  /** The socket was paused, and audio still waits in it. */
  #isBehind = false;
  #isPaused = false;
  /** The shortest wait since reading went on, and when that was. */
  #least = { waitedMs: Number.POSITIVE_INFINITY, atMs: 0 };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The socket is not read from now on. Chunks that were already read may still follow. */
  pause(): void {
    if (!this.#isBehind && !this.#isPaused) this.#pausedAtMs = this.#clock.nowMs();
    this.#isPaused = true;
  }

  /** The socket is read again, if it was paused. */
  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#isBehind = true;
    this.#least = { waitedMs: Number.POSITIVE_INFINITY, atMs: this.#clock.nowMs() };
  }

  /** Returns when a chunk that was read now had arrived, by the clock. It ends at `endMs` of the track's own time. */
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

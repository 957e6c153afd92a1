/**
 * When the audio of a carrier without timestamps was said: chunk after chunk without a break for as long as they come
 * more or less on time, else by the clock. So jitter inserts nothing, and what the carrier did not send becomes a gap
 * that the timeline fills.
 */
import type { Clock } from '../../foundation/clock.ts';
import { FRAME_MS } from '../../foundation/units.ts';

/**
 * A chunk that is later than this was not sent on time. Asterisk's own timers were seen to be 48 ms late with 60 calls.
 */
const JITTER_MAX_MS = 60;

/** The times of one track's chunks, from their arrivals. */
export class ArrivalTimes {
  readonly #clock: Clock;
  readonly #originMs: number;
  /** Where the audio placed so far ends; null before the first. */
  #nextMs: number | null = null;
  #lastSequence = 0;
  #lastArrivalMs = 0;
  #catchingUp = false;

  /** Time counts from now. */
  constructor(clock: Clock) {
    this.#clock = clock;
    this.#originMs = clock.nowMs();
  }

  /**
   * A chunk of `durationMs` has arrived: the ms of its first sample since the track was made. Numbers left out before
   * `sequence` are frames that the carrier knows to be lost; they take up their time.
   */
  place(durationMs: number, sequence: number): number {
    const arrivalMs = this.#clock.nowMs() - this.#originMs;
    const byClockMs = Math.max(arrivalMs - durationMs, 0);
    const lostMs = Math.max(sequence - this.#lastSequence - 1, 0) * FRAME_MS;
    const inTurnMs = (this.#nextMs ?? byClockMs) + (this.#nextMs === null ? 0 : lostMs);
    if (arrivalMs - this.#lastArrivalMs > JITTER_MAX_MS) this.#catchingUp = false;
    const atMs = !this.#catchingUp && byClockMs - inTurnMs > JITTER_MAX_MS ? byClockMs : inTurnMs;
    this.#nextMs = atMs + durationMs;
    this.#lastSequence = sequence;
    this.#lastArrivalMs = arrivalMs;
    return atMs;
  }

  /**
   * The time now, where nothing has come for longer than chunks are late: there is silence, though nobody sends it.
   * Null = audio is coming.
   */
  get silentUntilMs(): number | null {
    const nowMs = this.#clock.nowMs() - this.#originMs;
    return nowMs - this.#lastArrivalMs > JITTER_MAX_MS + FRAME_MS ? nowMs : null;
  }

  /**
   * The socket was not read for a while, and now is again. What waited in it comes at once and is joined on; the first
   * chunk that keeps us waiting shows that we are up to date.
   */
  forgivePause(): void {
    this.#catchingUp = true;
    this.#lastArrivalMs = this.#clock.nowMs() - this.#originMs;
  }
}

/**
 * Times for the audio of a carrier without timestamps. As long as chunks arrive more or less on time, each begins where
 * the one before it ended; otherwise its arrival decides. So jitter adds no gaps, and audio that the carrier did not
 * send becomes a gap that the timeline fills.
 */
import type { Clock } from '../../foundation/clock.ts';
import { FRAME_MS } from '../../foundation/units.ts';

/**
 * A chunk that is later than this was not sent on time. Asterisk's own timers were seen to be 48 ms late with 60 calls.
 */
const JITTER_MAX_MS = 60;

/** The times of one track's chunks, estimated from their arrivals. */
export class ArrivalTimes {
  readonly #clock: Clock;
  readonly #originMs: number;
  /** Where the last chunk ends; null before the first. */
  #nextMs: number | null = null;
  #lastSequence = 0;
  #lastArrivalMs = 0;
  #catchingUp = false;

  /** Time counts from `soundForMs` ago: sound has come since then, and waited. */
  constructor(clock: Clock, soundForMs = 0) {
    this.#clock = clock;
    this.#originMs = clock.nowMs() - soundForMs;
  }

  /**
   * A chunk of `durationMs` has arrived, `waitedMs` ago. Returns the time of its first sample, in ms of the track.
   * Sequence numbers that were skipped are frames that the carrier knows to be lost; each counts with its duration.
   */
  place(durationMs: number, sequence: number, waitedMs = 0): number {
    const arrivalMs = this.#clock.nowMs() - waitedMs - this.#originMs;
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
   * The current time if nothing has arrived for longer than jitter explains: the carrier is silent and sends nothing.
   * Null = audio is arriving.
   */
  get silentUntilMs(): number | null {
    const nowMs = this.#clock.nowMs() - this.#originMs;
    return nowMs - this.#lastArrivalMs > JITTER_MAX_MS + FRAME_MS ? nowMs : null;
  }

  /**
   * The socket is read again after a pause. The chunks that waited in it arrive together and are placed one after the
   * other. The first chunk that arrives after a wait shows that we have caught up.
   */
  forgivePause(): void {
    this.#catchingUp = true;
    this.#lastArrivalMs = this.#clock.nowMs() - this.#originMs;
  }
}

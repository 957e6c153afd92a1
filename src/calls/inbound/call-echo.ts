/**
 * Our own voice in what comes back from a caller, taken out. What is sent is known by the clock and what comes back by
 * the time of the call: here the one is laid beside the other. Costs nothing in a call in which nothing is said.
 */
import { ENGINE_RATE_HZ } from '../../../engine/contract.ts';
import { EchoCanceller } from '../../audio/echo/echo-canceller.ts';
import { decodeG711 } from '../../audio/g711.ts';
import { Resampler } from '../../audio/resample.ts';
import type { Clock } from '../../foundation/clock.ts';
import { bytesToMs, type Codec, FRAME_MS } from '../../foundation/units.ts';
import type { PlayoutTap } from '../outbound/playout.ts';
import { CallTime } from '../sound/call-time.ts';

/** The rate of G.711, at which half the work is enough. */
const NARROW_RATE_HZ = 8000;
/** Frames that follow one another by the clock, but for this, do so at the caller. */
const SLACK_MS = 5;
/** Sound that was sent before any came waits for the time of the call to be known: so many messages at most. */
const UNPLACED_MAX = 256;

interface SentMessage {
  readonly samples: Int16Array;
  /** When it begins to sound, and how long it lasts. */
  readonly atMs: number;
  readonly durationMs: number;
}

export class CallEcho implements PlayoutTap {
  /** The rate of the samples that {@link clean} takes, in Hz. */
  readonly rateHz: number;
  readonly #codec: Codec;
  readonly #clock: Clock;
  readonly #time = new CallTime();
  readonly #resampler: Resampler;
  #canceller: EchoCanceller | null = null;
  #unplaced: SentMessage[] = [];
  /** When the message that was placed last is over, by the clock; null = the next one does not follow one. */
  #placedUntilMs: number | null = null;

  constructor(codec: Codec, clock: Clock) {
    this.#codec = codec;
    this.#clock = clock;
    this.rateHz = codec.rateHz === NARROW_RATE_HZ ? NARROW_RATE_HZ : ENGINE_RATE_HZ;
    this.#resampler = new Resampler(codec.rateHz, this.rateHz);
  }

  /** How late the echo comes back, in whole ms; null = none was found. */
  get delayMs(): number | null {
    const delayMs = this.#canceller?.delayMs ?? null;
    return delayMs === null ? null : Math.round(delayMs);
  }

  /** Frames were sent that begin to sound at `atMs` of the clock, or later: that is part of the echo's delay. */
  sent(bytes: Uint8Array, atMs: number): void {
    this.#canceller ??= new EchoCanceller(this.rateHz);
    const samples = this.#resampler.push(decodeG711(bytes, this.#codec));
    const message = { samples, atMs, durationMs: bytesToMs(bytes.length, this.#codec) };
    if (this.#time.isKnown) this.#place(message);
    else if (this.#unplaced.push(message) > UNPLACED_MAX) this.#unplaced.shift();
  }

  /** The last `frames` of those sent will not be heard. */
  takenBack(frames: number): void {
    if (frames === 0) return;
    this.#placedUntilMs = null;
    this.#canceller?.takeBack(frames * FRAME_MS);
  }

  /** Sound has come up to `callMs` of the call. */
  observe(callMs: number): void {
    this.#time.observe(callMs, this.#clock.nowMs());
    if (this.#unplaced.length > 0) for (const message of this.#unplaced.splice(0)) this.#place(message);
  }

  /**
   * Takes samples that begin at `atMs` of the call, and returns those that are ready, in order, without our voice. Some
   * are held while we speak.
   */
  clean(samples: Int16Array, atMs: number): Int16Array {
    return this.#canceller?.cancel(samples, atMs) ?? samples;
  }

  /** Returns what is held. */
  flush(): Int16Array {
    return this.#canceller?.flush() ?? new Int16Array(0);
  }

  #place({ samples, atMs, durationMs }: SentMessage): void {
    const untilMs = this.#placedUntilMs;
    const follows = untilMs !== null && Math.abs(atMs - untilMs) <= SLACK_MS;
    this.#canceller?.send(samples, follows ? null : this.#time.at(atMs));
    this.#placedUntilMs = atMs + durationMs;
  }
}

import { TrunklineError } from '../../foundation/errors.ts';
import type { CarrierEvent } from '../../protocols/dialect.ts';
import type { LegEnd, LegHandlers } from '../leg.ts';

/** A minute of frames of 20 ms. It is held for START_TIMEOUT_MS and two seconds, so whoever sends more is no phone. */
const EVENTS_MAX = 3000;
/** Two minutes of linear PCM at 16 kHz. */
const BYTES_MAX = 4_000_000;

interface Held {
  readonly event: CarrierEvent;
  readonly cameAtMs: number;
}

/** What a leg tells before there is a call that could take it, in its order. */
export class HeldEvents {
  readonly #events: Held[] = [];
  #bytes = 0;
  #end: LegEnd | null = null;

  /**
   * `nowMs` = when it came, by the clock.
   * @throws TrunklineError `audio_too_fast` when more comes than anybody says in that time
   */
  add(event: CarrierEvent, nowMs: number): void {
    if (event.type === 'audio') this.#bytes += event.bytes.length;
    if (this.#events.length >= EVENTS_MAX || this.#bytes > BYTES_MAX)
      throw new TrunklineError(
        'audio_too_fast',
        `got ${this.#events.length} messages and ${this.#bytes} bytes of sound as the call began, expected at most ` +
          `${EVENTS_MAX} and ${BYTES_MAX}`,
      );
    this.#events.push({ event, cameAtMs: nowMs });
  }

  /** When the first sound came, by the clock; null = none did. */
  get soundSinceMs(): number | null {
    return this.#events.find(({ event }) => event.type === 'audio')?.cameAtMs ?? null;
  }

  /** The socket has closed; nothing comes after it. */
  close(end: LegEnd): void {
    this.#end = end;
  }

  /** Tells `receiver` everything; of sound, how long before `nowMs` it came. */
  tell(receiver: LegHandlers, nowMs: number): void {
    for (const { event, cameAtMs } of this.#events) {
      receiver.onEvent(event.type === 'audio' ? { ...event, waitedMs: nowMs - cameAtMs } : event);
    }
    if (this.#end !== null) receiver.onClosed(this.#end);
  }
}

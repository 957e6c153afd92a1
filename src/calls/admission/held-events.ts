import { TrunklineError } from '../../foundation/errors.ts';
import type { CarrierEvent } from '../../protocols/dialect.ts';
import type { LegEnd, LegHandlers } from '../leg.ts';

/** A minute of frames of 20 ms. It is held for two seconds at most, so whoever sends more is no telephone. */
const EVENTS_MAX = 3000;
/** Two minutes of linear PCM at 16 kHz. */
const BYTES_MAX = 4_000_000;

/** What a leg tells before there is a call that could take it, in its order. */
export class HeldEvents {
  readonly #events: CarrierEvent[] = [];
  #bytes = 0;
  #end: LegEnd | null = null;

  /** @throws TrunklineError `audio_too_fast` when more comes than anybody says in that time */
  add(event: CarrierEvent): void {
    if (event.type === 'audio') this.#bytes += event.bytes.length;
    if (this.#events.length >= EVENTS_MAX || this.#bytes > BYTES_MAX)
      throw new TrunklineError(
        'audio_too_fast',
        `got ${this.#events.length} messages and ${this.#bytes} bytes of sound as the call began, expected at most ` +
          `${EVENTS_MAX} and ${BYTES_MAX}`,
      );
    this.#events.push(event);
  }

  /** The socket has closed; nothing comes after it. */
  close(end: LegEnd): void {
    this.#end = end;
  }

  /** Tells `receiver` everything. */
  tell(receiver: LegHandlers): void {
    for (const event of this.#events) receiver.onEvent(event);
    if (this.#end !== null) receiver.onClosed(this.#end);
  }
}

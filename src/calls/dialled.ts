/** Calls that we make and that nobody has answered yet: to be seen and to be given up by their id, which is theirs from the first moment on. */
import type { Arrival } from './arrival.ts';

/** What is known of a call when it is dialled. */
export interface Dialled {
  /** The carrier's name for the call: its `start` will bring the same. */
  readonly callId: string;
  readonly from: string | null;
  readonly to: string | null;
}

/** One that still rings. */
export interface Ringing extends Dialled {
  readonly carrier: string;
  readonly since: Date;
}

/** The calls that ring, by the arrival that will become the call. */
export class DialledCalls {
  readonly #ringing = new Map<Arrival, Ringing>();

  add(arrival: Arrival, ringing: Ringing): void {
    this.#ringing.set(arrival, ringing);
  }

  /** The call has been answered, or never will be. Undefined = it was not one of these. */
  remove(arrival: Arrival): Ringing | undefined {
    const ringing = this.#ringing.get(arrival);
    this.#ringing.delete(arrival);
    return ringing;
  }

  /** In the order in which they were dialled. */
  list(): Ringing[] {
    return [...this.#ringing.values()];
  }

  get(callId: string): Ringing | undefined {
    return this.list().find((ringing) => ringing.callId === callId);
  }

  /** Gives a call up. False = none of that id rings. */
  giveUp(callId: string): boolean {
    for (const [arrival, ringing] of this.#ringing) {
      if (ringing.callId !== callId) continue;
      arrival.giveUp();
      return true;
    }
    return false;
  }
}

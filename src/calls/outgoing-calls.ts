/**
 * Calls that we make and that nobody has answered yet: to be seen and to be given up by their id, which is theirs from
 * the first moment on.
 */
import type { PendingCall } from './pending-call.ts';

/** What is known of a call when it is dialled. */
export interface OutgoingCall {
  /** The carrier's name for the call: its `start` will bring the same. */
  readonly callId: string;
  readonly from: string | null;
  readonly to: string | null;
}

/** One that still rings. */
export interface RingingCall extends OutgoingCall {
  readonly carrier: string;
  readonly since: Date;
}

/** The calls that ring, by the arrival that will become the call. */
export class OutgoingCalls {
  readonly #ringing = new Map<PendingCall, RingingCall>();

  add(pendingCall: PendingCall, ringing: RingingCall): void {
    this.#ringing.set(pendingCall, ringing);
  }

  /** The call has been answered, or never will be. Undefined = it was not one of these. */
  remove(pendingCall: PendingCall): RingingCall | undefined {
    const ringing = this.#ringing.get(pendingCall);
    this.#ringing.delete(pendingCall);
    return ringing;
  }

  /** In the order in which they were dialled. */
  list(): RingingCall[] {
    return [...this.#ringing.values()];
  }

  get(callId: string): RingingCall | undefined {
    return this.list().find((ringing) => ringing.callId === callId);
  }

  /** Gives a call up. False = none of that id rings. */
  giveUp(callId: string): boolean {
    for (const [pendingCall, ringing] of this.#ringing) {
      if (ringing.callId !== callId) continue;
      pendingCall.giveUp();
      return true;
    }
    return false;
  }
}

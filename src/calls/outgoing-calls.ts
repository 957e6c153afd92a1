/**
 * Calls that we make and that nobody has answered yet: to be seen and to be given up by their id, which is theirs from
 * the first moment on.
 */
import type { CallSummary } from './call-summary.ts';
import type { PendingCall } from './pending-call.ts';

/** What is known of a call when it is dialled. */
export interface OutgoingCall {
  /** The carrier's name for the call: its `start` will bring the same. */
  readonly callId: string;
  readonly from: string | null;
  readonly to: string | null;
  /** The parameters that it was dialled with. */
  readonly parameters?: Readonly<Record<string, string>>;
}

/** The calls that ring, by the arrival that will become the call. */
export class OutgoingCalls {
  readonly #ringing = new Map<PendingCall, CallSummary>();

  add(pendingCall: PendingCall, summary: CallSummary): void {
    this.#ringing.set(pendingCall, summary);
  }

  /** The call has been answered, or never will be. Undefined = it was not one of these. */
  remove(pendingCall: PendingCall): CallSummary | undefined {
    const summary = this.#ringing.get(pendingCall);
    this.#ringing.delete(pendingCall);
    return summary;
  }

  /** What is known of the call that the socket of `pendingCall` is for. Undefined = it is not one of these. */
  of(pendingCall: PendingCall): CallSummary | undefined {
    return this.#ringing.get(pendingCall);
  }

  /** In the order in which they were dialled. */
  list(): CallSummary[] {
    return [...this.#ringing.values()];
  }

  get(callId: string): CallSummary | undefined {
    return this.list().find(({ beginning }) => beginning.id === callId);
  }

  /** Gives a call up. False = none of that id rings. */
  giveUp(callId: string): boolean {
    for (const [pendingCall, { beginning }] of this.#ringing) {
      if (beginning.id !== callId) continue;
      pendingCall.giveUp();
      return true;
    }
    return false;
  }
}

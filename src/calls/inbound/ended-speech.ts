/** Speech of calls that have ended and that is still to be read: bounded over all of them, as they take up no place. */

/** Some ten seconds of work for one core. */
const UNREAD_MAX_MS = 240_000;

/** One call that has ended. */
export interface EndedCallSpeech {
  /** Ms of its sound that still get finals, of all tracks together. */
  unreadMs(): number;
  /** Settled when nothing of it is left to be read. */
  readonly until: Promise<unknown>;
}

/** The calls of one gateway that have ended and are still being read. */
export class EndedSpeech {
  /** The oldest end first. */
  readonly #calls = new Map<EndedCallSpeech, AbortController>();

  /**
   * Counts `call`, whose sound has ended just now. The signal aborts when it is to be given up, because too much is to
   * be read of all: those that ended first are given up first.
   */
  add(call: EndedCallSpeech): AbortSignal {
    const controller = new AbortController();
    this.#calls.set(call, controller);
    const remove = (): void => void this.#calls.delete(call);
    call.until.then(remove, remove);
    this.#giveUpOldest();
    return controller.signal;
  }

  #giveUpOldest(): void {
    let unreadMs = 0;
    for (const call of this.#calls.keys()) unreadMs += call.unreadMs();
    for (const [call, controller] of this.#calls) {
      if (unreadMs <= UNREAD_MAX_MS) return;
      unreadMs -= call.unreadMs();
      this.#calls.delete(call);
      controller.abort();
    }
  }
}

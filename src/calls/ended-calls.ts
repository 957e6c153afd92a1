/**
 * Final captions and gaps kept over all ended calls, some 15 MB of text: the oldest calls go first, however few they
 * are.
 */
const ITEMS_MAX = 50_000;

/** A call that is over. */
interface EndedCall {
  /** Does not grow any more. */
  readonly transcript: readonly unknown[];
}

/** The calls that ended lately, with their transcripts: at most `callsMax` of them, and a bounded amount of text. */
export class EndedCalls<Call extends EndedCall> {
  readonly #callsMax: number;
  /** Oldest first. */
  readonly #calls = new Map<string, Call>();
  #itemsHeld = 0;

  constructor(options: { callsMax: number }) {
    this.#callsMax = options.callsMax;
  }

  /** Keeps a call; one with the same id is replaced. */
  add(id: string, call: Call): void {
    this.remove(id);
    this.#calls.set(id, call);
    this.#itemsHeld += call.transcript.length;
    for (const oldest of this.#calls.keys()) {
      if (this.#calls.size <= this.#callsMax && this.#itemsHeld <= ITEMS_MAX) return;
      this.remove(oldest);
    }
  }

  get(id: string): Call | undefined {
    return this.#calls.get(id);
  }

  /** Newest first. */
  list(): Call[] {
    return [...this.#calls.values()].toReversed();
  }

  /** Lets a call go, if it is there. */
  remove(id: string): void {
    this.#itemsHeld -= this.#calls.get(id)?.transcript.length ?? 0;
    this.#calls.delete(id);
  }
}

/** Tells that calls go on whose end others have told, because this gateway could be reached by nobody. */
import type { Feed } from '../calls/feed/feed.ts';

interface ResumedOptions {
  readonly feed: Pick<Feed, 'publish' | 'subscribeForeign' | 'subscribeOwn'>;
  /** How long a call has lasted, in ms; null = it is not this gateway's, or it is over. */
  readonly lastedMs: (callId: string) => number | null;
}

/**
 * `call.resumed` comes after the end that it takes back, also where that is told after this gateway is back: a gateway
 * that takes calls over may be slow.
 */
export class ResumedCalls {
  readonly #options: ResumedOptions;
  /** Told to go on, whose end was not read here yet. */
  readonly #early = new Set<string>();
  /** Told to go on since the last time that this gateway was back, for its end was read. */
  readonly #answered = new Set<string>();

  constructor(options: ResumedOptions) {
    this.#options = options;
    const { feed } = options;
    feed.subscribeForeign((event) => {
      if (event.type === 'call.ended' && event.reason === 'server_lost') this.#noteEnd(event.callId);
    });
    feed.subscribeOwn({}, ({ event: { type, callId } }) => {
      if (type !== 'call.ended') return;
      this.#early.delete(callId);
      this.#answered.delete(callId);
    });
  }

  /** This gateway is back: the end of these calls is stored. */
  resume(ended: readonly string[]): void {
    for (const callId of ended) if (!this.#answered.has(callId) && this.#tell(callId)) this.#early.add(callId);
    this.#answered.clear();
  }

  #noteEnd(callId: string): void {
    if (!this.#early.delete(callId) && this.#tell(callId)) this.#answered.add(callId);
  }

  #tell(callId: string): boolean {
    const atMs = this.#options.lastedMs(callId);
    if (atMs === null) return false;
    this.#options.feed.publish({ type: 'call.resumed', callId, atMs: Math.round(atMs) });
    return true;
  }
}

/** How long a scripted caller waits: the time that a busy machine takes to recognise what was said does not count. */
import type { FeedEvent } from '../../calls/feed/events.ts';

/** On a machine that keeps up, speech is recognised within this time of its end. */
const USUAL_MS = 2000;
/** Speech of which nothing is recognised within this time never is. */
const GIVE_UP_MS = 60_000;
/** How far the end of a caption may lie before that of the sound. */
const TAIL_MS = 1500;

/** Knows what was said and is not recognised yet. */
export class Patience {
  /** When that speech ends, in ms of the call; null = all is recognised. */
  #saidUntilMs: number | null = null;
  #spentMs = 0;

  /** The caller says something until `endMs` of the call. */
  onSaid(endMs: number): void {
    this.#saidUntilMs = endMs;
    this.#spentMs = 0;
  }

  /** An event of the call. */
  onEvent(event: FeedEvent): void {
    if (event.type !== 'caption' || !event.final || event.track !== 'inbound') return;
    if (this.#saidUntilMs !== null && event.endMs >= this.#saidUntilMs - TAIL_MS) this.#saidUntilMs = null;
  }

  /** How much of `passedMs`, in which the caller waited, counts. */
  countOf(passedMs: number): number {
    if (this.#saidUntilMs === null) return passedMs;
    this.#spentMs += passedMs;
    return this.#spentMs > USUAL_MS && this.#spentMs < GIVE_UP_MS ? 0 : passedMs;
  }
}

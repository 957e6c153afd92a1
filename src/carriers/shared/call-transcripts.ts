/** The final captions of one call, for a carrier that is told of them on the socket of its sound. */
import type { FeedEvent } from '../../calls/feed/events.ts';
import type { TranscribedCaption } from '../../protocols/dialect.ts';

interface TranscriptsOptions {
  /** The ids that the call may have. */
  readonly ids: readonly string[];
  readonly send: (caption: TranscribedCaption) => void;
  /** The last caption is told; left out = nobody waits for that. */
  readonly onEnded?: () => void;
}

/** Follows the call that begins next with one of some ids, until it has ended. */
export class CallTranscripts {
  readonly #options: TranscriptsOptions;
  #unfollow: () => void = () => undefined;
  /** Null = the call has not begun. */
  #callId: string | null = null;
  #isOver = false;

  constructor(options: TranscriptsOptions) {
    this.#options = options;
  }

  /** Whether nothing more is told: the call has ended, or nobody follows it any more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Tells what is published from now on. */
  followWith(follow: (reader: (event: FeedEvent) => void) => () => void): void {
    this.#unfollow = follow((event) => this.#read(event));
  }

  close(): void {
    this.#isOver = true;
    this.#unfollow();
  }

  /** Partial captions are left out: Genesys limits how many messages come, and FreeSWITCH makes an event of each. */
  #read(event: FeedEvent): void {
    if (this.#isOver) return;
    // Of two calls that could have the id, ours is the one that begins now.
    if (event.type === 'call.started' && this.#callId === null && this.#options.ids.includes(event.callId))
      this.#callId = event.callId;
    if (event.callId !== this.#callId) return;
    // There is no word for speech behind the caller.
    if (event.type === 'caption' && event.final && event.text !== '' && !event.background) this.#options.send(event);
    if (event.type === 'call.ended') this.#end();
  }

  #end(): void {
    this.close();
    this.#options.onEnded?.();
  }
}

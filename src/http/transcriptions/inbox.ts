/** What a client sent to a socket for audio and nobody has taken yet, in its order. */
import { TrunklineError } from '../../foundation/errors.ts';

/** A text, or audio. */
export type Message = string | Uint8Array;

/**
 * Messages that may wait. The socket is read no further while one does; ws hands out by then what it holds, 64 KiB with
 * at least 6 bytes to a message.
 */
const WAITING_MAX = 16_384;

/**
 * Finals behind which it goes on at once. Where nothing was said they are there at once, and thousands of orders would
 * be obeyed in one go.
 */
const FINALS_IN_A_ROW = 16;

interface InboxOptions {
  /** Most audio that is taken in one go. Even, so that no sample is cut. */
  readonly sliceBytes: number;
  /**
   * Whether `message`, the next one, may be taken now; one that was begun is taken whole. Whoever says no calls {@link
   * Inbox.run} when that changes.
   */
  readonly mayTake: (message: Message) => boolean;
  readonly take: (message: Message) => void;
  /** What `take` failed with. */
  readonly onFailure: (error: unknown) => void;
  /** Something was handed out, or asked for in vain. */
  readonly onRun: () => void;
}

/**
 * Hands out a long message slice by slice, with the rest of the process in between: half a minute of audio takes as
 * long to resample as twenty calls take for a second.
 */
export class Inbox {
  readonly #options: InboxOptions;
  #waiting: Message[] = [];
  /** Something is being handed out, or others go on before the next slice. */
  #isBusy = false;
  /** A part of the first message has been taken. */
  #hasBegun = false;
  #isClosed = false;
  #finals = 0;

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  /** Whether nothing waits. */
  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /**
   * Takes `message` in, and hands out what may be. Ignored after {@link close}. Throws `too_many_requests` when more
   * waits than can have been read in one go.
   */
  push(message: Message): void {
    if (this.#isClosed) return;
    if (this.#waiting.length >= WAITING_MAX)
      throw new TrunklineError('too_many_requests', `${WAITING_MAX} messages wait already`);
    this.#waiting.push(message);
    this.run();
  }

  /** Hands out what may be taken now. */
  run(): void {
    if (this.#isBusy) return;
    this.#isBusy = true;
    try {
      while (this.#handOutNext());
    } catch (error) {
      this.#options.onFailure(error);
    }
    if (this.#hasBegun) setImmediate(() => this.#goOn());
    else this.#isBusy = false;
    this.#options.onRun();
  }

  /** As {@link run}, where a final was waited for. */
  runAfterFinal(): void {
    this.#finals++;
    if (this.#finals < FINALS_IN_A_ROW) this.run();
    else if (this.#finals === FINALS_IN_A_ROW) setImmediate(() => this.#goOnAfterFinals());
  }

  /** Forgets what waits, and takes nothing more. */
  close(): void {
    this.#isClosed = true;
    this.#hasBegun = false;
    this.#waiting = [];
  }

  /** Whether to go on at once. */
  #handOutNext(): boolean {
    const { sliceBytes, mayTake, take } = this.#options;
    const [message] = this.#waiting;
    if (message === undefined || (!this.#hasBegun && !mayTake(message))) return false;
    this.#hasBegun = typeof message !== 'string' && message.length > sliceBytes;
    if (typeof message === 'string' || !this.#hasBegun) {
      this.#waiting.shift();
      take(message);
      return true;
    }
    this.#waiting[0] = message.subarray(sliceBytes);
    take(message.subarray(0, sliceBytes));
    return false;
  }

  #goOnAfterFinals(): void {
    this.#finals = 0;
    this.run();
  }

  #goOn(): void {
    this.#isBusy = false;
    this.run();
  }
}

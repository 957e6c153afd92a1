/** The queue of what a client of a listening session sends, in order. */
import { TrunklineError } from '../foundation/errors.ts';

/** What is done when all audio before it has been taken. */
export interface Step {
  isReady(): boolean;
  run(): void;
}

/** A step, or audio. */
export type Message = Step | Uint8Array;

/**
 * Most messages in the queue. The socket is paused while a message waits, but ws still emits the messages that it has
 * buffered: 64 KiB with at least 6 bytes in a message.
 */
const WAITING_MAX = 16_384;

/**
 * After this many finals the queue yields to other work. Without speech a final needs no time, and thousands of
 * commands would run at once.
 */
const FINALS_IN_A_ROW = 16;

interface InboxOptions {
  /** When so much audio has been taken, other work runs. */
  readonly sliceBytes: number;
  /**
   * Each message counts as so many bytes more, and together with those before it until other work has run; absent =
   * messages are quick, and count together only where many wait.
   */
  readonly messageBytes?: number | undefined;
  /** Audio that has to come whole counts as so many bytes; absent = it is cut, and counts as it is. */
  readonly wholeBytes?: ((message: Uint8Array) => number) | undefined;
  /**
   * Whether `message`, the next one or what is left of it, may be taken now. After a refusal the owner calls
   * {@link Inbox.run} when the answer changes.
   */
  readonly mayTake: (message: Message) => boolean;
  readonly take: (message: Message) => void;
  /** Is called with the error of `take`. */
  readonly onFailure: (error: unknown) => void;
  /** Is called after each run, even one that took no message. */
  readonly onRun: () => void;
}

/**
 * Takes long messages, and many short ones, slice by slice, so that other work runs in between: resampling half a
 * minute of audio takes as long as a second of twenty calls.
 */
export class Inbox {
  readonly #options: InboxOptions;
  #waiting: Message[] = [];
  /** A message is being taken, or the next slice is scheduled. */
  #isBusy = false;
  /** Audio since other work last ran. */
  #takenBytes = 0;
  #isClosed = false;
  #finals = 0;

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  /** Whether no message waits. */
  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /**
   * Adds `message` and runs. Ignored after {@link close}. Throws `too_many_requests` when more messages wait than a
   * paused socket can emit.
   */
  push(message: Message): void {
    if (this.#isClosed) return;
    if (this.#waiting.length >= WAITING_MAX)
      throw new TrunklineError('too_many_requests', `${WAITING_MAX} messages are waiting, the most allowed`);
    this.#waiting.push(message);
    this.run();
  }

  /** Takes all messages that may be taken now. */
  run(): void {
    if (this.#isBusy) return;
    this.#isBusy = true;
    if (this.#options.messageBytes === undefined) this.#takenBytes = 0;
    try {
      while (this.#handOutNext());
    } catch (error) {
      this.#options.onFailure(error);
    }
    if (this.#isSliceTaken) setImmediate(() => this.#goOn());
    else this.#isBusy = false;
    this.#options.onRun();
  }

  /** As {@link run}, after a final for which messages waited. */
  runAfterFinal(): void {
    this.#finals++;
    if (this.#finals < FINALS_IN_A_ROW) this.run();
    else if (this.#finals === FINALS_IN_A_ROW) setImmediate(() => this.#goOnAfterFinals());
  }

  /** Drops waiting messages and accepts no more. */
  close(): void {
    this.#isClosed = true;
    this.#waiting = [];
  }

  get #isSliceTaken(): boolean {
    return this.#takenBytes >= this.#options.sliceBytes;
  }

  /** Returns whether to continue at once. */
  #handOutNext(): boolean {
    const { mayTake, take } = this.#options;
    const [message] = this.#waiting;
    if (message === undefined || !mayTake(message)) return false;
    take(message instanceof Uint8Array ? this.#nextSlice(message) : this.#whole(message));
    return !this.#isSliceTaken;
  }

  #nextSlice(message: Uint8Array): Uint8Array {
    const { sliceBytes, messageBytes = 0, wholeBytes } = this.#options;
    const room = sliceBytes - this.#takenBytes;
    if (wholeBytes === undefined && message.length > room) {
      this.#waiting[0] = message.subarray(room);
      this.#takenBytes = sliceBytes;
      return message.subarray(0, room);
    }
    this.#takenBytes += messageBytes + (wholeBytes === undefined ? message.length : wholeBytes(message));
    return this.#whole(message);
  }

  #whole<M extends Message>(message: M): M {
    this.#waiting.shift();
    return message;
  }

  #goOnAfterFinals(): void {
    this.#finals = 0;
    this.run();
  }

  #goOn(): void {
    this.#isBusy = false;
    this.#takenBytes = 0;
    this.run();
  }
}

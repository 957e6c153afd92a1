import type { TextFrame } from './frames.ts';

/**
 * Separates late text of an interrupted talk cycle from text of the next cycle. The protocol does not name cycles, so
 * we infer: text that the app sent before it read the interrupt frame is certainly late. After that, text is late until
 * the cycle's `last`, or until we have sent the app something to answer.
 */
export class LateText {
  /** Text of the interrupted cycle may still arrive. */
  #expected = false;
  /** The app may not have read the interrupt frame yet. */
  #unread = false;
  /** We sent the app something to answer before we knew that it had read the interrupt frame. */
  #answerable = false;

  /** A cycle was interrupted before its `last`. The app was sent an interrupt frame, and a fence after it. */
  onInterrupted(): void {
    this.#expected = true;
    this.#unread = true;
    this.#answerable = false;
  }

  /** Drops the rest of a cycle for a reason other than an interruption. */
  refuseRest(): void {
    this.#expected = true;
  }

  /** Whether this text is late. Its `last` ends the cycle. */
  isLate({ last }: TextFrame): boolean {
    if (!this.#expected) return false;
    if (last) this.forget();
    return true;
  }

  /** The app was sent something to answer: a final prompt or a key, perhaps the key that caused the interruption. */
  onAnswerable(): void {
    if (this.#unread) this.#answerable = true;
    else this.forget();
  }

  /** The app has read the interrupt frame. */
  onFence(): void {
    this.#unread = false;
    if (this.#answerable) this.forget();
  }

  /** All text from now on belongs to a new cycle, as on a new connection. */
  forget(): void {
    this.#expected = false;
    this.#unread = false;
    this.#answerable = false;
  }
}

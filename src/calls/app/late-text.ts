import type { TextFrame } from './frames.ts';

/**
 * Tells text that still comes of an interrupted talk cycle from the next one. The protocol gives cycles no names, so:
 * what the app sent before it had read of the interruption is late for certain; after that, text is late until the
 * cycle's `last`, or until the app was told something to answer.
 */
export class LateText {
  /** Text of the interrupted cycle may still come. */
  #expected = false;
  /** The app may not have read of the interruption yet. */
  #unread = false;
  /** The app was told something new before it was seen to have read of the interruption. */
  #answerable = false;

  /** A cycle was cut off before its `last`, and the app told. A fence was put behind that. */
  onInterrupted(): void {
    this.#expected = true;
    this.#unread = true;
    this.#answerable = false;
  }

  /** The rest of a cycle is not wanted for another reason. */
  refuseRest(): void {
    this.#expected = true;
  }

  /** Whether this text is late; its `last` ends the cycle. */
  isLate({ last }: TextFrame): boolean {
    if (!this.#expected) return false;
    if (last) this.forget();
    return true;
  }

  /** The app was told something to answer: a whole prompt, or a key, perhaps the very one that interrupted. */
  onAnswerable(): void {
    if (this.#unread) this.#answerable = true;
    else this.forget();
  }

  /** The app has read of the interruption. */
  onFence(): void {
    this.#unread = false;
    if (this.#answerable) this.forget();
  }

  /** Whatever comes now is new, as on a new connection. */
  forget(): void {
    this.#expected = false;
    this.#unread = false;
    this.#answerable = false;
  }
}

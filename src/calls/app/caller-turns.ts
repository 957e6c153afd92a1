import type { Clock } from '../../foundation/clock.ts';
import type { Caption, Revision } from '../../transcription/live-transcriber.ts';
import { TurnText } from '../../transcription/turn-text.ts';
import { isBackchannel } from '../outbound/backchannels.ts';

/** A word of agreement this long before the end of what the app says answers it: "… is that right?" "Yes." */
const ANSWER_MS = 1000;

interface CallerTurnsOptions {
  readonly clock: Clock;
  /** A turn is over; `text` = all its words. */
  onTurn(text: string): void;
  /** What the turn that goes on has been so far. Left out = nobody wants to know. */
  readonly onPart?: ((text: string) => void) | undefined;
}

/** What the caller says, as turns: one text for each, with all its words. */
export class CallerTurns {
  readonly #options: CallerTurnsOptions;
  readonly #turn = new TurnText();
  /** The last turn that was over. */
  #over = 0;
  /** What was left out last, if it may prove to be an answer. */
  #leftOut: { readonly caption: Caption; readonly atMs: number } | null = null;

  constructor(options: CallerTurnsOptions) {
    this.#options = options;
  }

  /**
   * Something of the turn was said. Returns whether it was reported at once, as the last words of a turn that is over:
   * they were understood only when they were read together with others.
   */
  add(caption: Caption): boolean {
    this.#turn.add(caption);
    if (caption.final && caption.utterance <= this.#over) return this.report(caption.utterance);
    if (!caption.final && caption.text !== '') this.#options.onPart?.(this.#turn.text);
    return false;
  }

  /** The caller said this into what the app says, without interrupting it. */
  leaveOut(caption: Caption): void {
    if (!caption.final) return;
    this.#turn.drop(caption.utterance);
    if (isBackchannel(caption.text)) this.#leftOut = { caption, atMs: this.#options.clock.nowMs() };
  }

  /** All that the app said has been heard. Returns whether what was left out shortly before is reported: it answers. */
  answer(): boolean {
    const leftOut = this.#leftOut;
    this.#leftOut = null;
    if (leftOut === null || this.#options.clock.nowMs() - leftOut.atMs > ANSWER_MS) return false;
    this.#turn.add(leftOut.caption);
    return leftOut.caption.utterance <= this.#over && this.report(leftOut.caption.utterance);
  }

  /**
   * A later text of an utterance; it comes too late if the utterance was reported with words. Returns whether it was
   * reported at once, as the words of one that had none.
   */
  revise(revision: Revision): boolean {
    this.#turn.revise(revision);
    return revision.utterance <= this.#over && this.report(revision.utterance);
  }

  /** The turn with utterance number `last` is over. Returns whether there was anything to report. */
  end(last: number): boolean {
    this.#over = last;
    return this.report(last);
  }

  /** What was said so far is reported to nobody. */
  forget(): void {
    this.#turn.take(Number.POSITIVE_INFINITY);
    this.#leftOut = null;
  }

  /** Reports the words up to utterance number `last`, or all whose finals are out. Returns whether there were any. */
  report(last = Number.POSITIVE_INFINITY): boolean {
    const text = this.#turn.take(last);
    if (text !== '') this.#options.onTurn(text);
    return text !== '';
  }
}

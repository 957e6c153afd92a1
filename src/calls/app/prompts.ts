import type { Clock } from '../../foundation/clock.ts';
import type { Caption, Revision } from '../../transcription/live-transcriber.ts';
import { TurnText } from '../../transcription/turn-text.ts';
import { isBackchannel } from '../outbound/backchannels.ts';
import type { PromptFrame } from './frames.ts';

/** A word of agreement this long before the end of what the app says answers it: "… is that right?" "Yes." */
const ANSWER_MS = 1000;

interface PromptsOptions {
  /** BCP 47 of what the caller says, as the app named it if it did. */
  lang(): string;
  /** Whether the app wants the text of a turn while it is going on. */
  readonly partials: boolean;
  readonly clock: Clock;
  /** Kept for an app that is away. */
  send(prompt: PromptFrame): void;
  /** Dropped where the app is away or behind. */
  sendNow(prompt: PromptFrame): void;
}

/** What the caller says, as prompts: one for each turn, with all its words. */
export class Prompts {
  readonly #options: PromptsOptions;
  readonly #turn = new TurnText();
  /** The last turn that was over. */
  #over = 0;
  /** What was left out last, if it may prove to be an answer. */
  #leftOut: { readonly caption: Caption; readonly atMs: number } | null = null;

  constructor(options: PromptsOptions) {
    this.#options = options;
  }

  /**
   * Something of the turn was said. Returns whether it was told at once, as the last words of a turn that is over:
   * they were understood only when they were read together with others.
   */
  add(caption: Caption): boolean {
    this.#turn.add(caption);
    if (caption.final && caption.utterance <= this.#over) return this.tell(caption.utterance);
    const { lang, partials, sendNow } = this.#options;
    if (partials && !caption.final && caption.text !== '')
      sendNow({ type: 'prompt', voicePrompt: this.#turn.text, lang: lang(), last: false });
    return false;
  }

  /** The caller said this into what the app says, without interrupting it. */
  leaveOut(caption: Caption): void {
    if (!caption.final) return;
    this.#turn.drop(caption.utterance);
    if (isBackchannel(caption.text)) this.#leftOut = { caption, atMs: this.#options.clock.nowMs() };
  }

  /** All that the app said has been heard. Returns whether what was left out shortly before is told as an answer. */
  answer(): boolean {
    const leftOut = this.#leftOut;
    this.#leftOut = null;
    if (leftOut === null || this.#options.clock.nowMs() - leftOut.atMs > ANSWER_MS) return false;
    this.#turn.add(leftOut.caption);
    return leftOut.caption.utterance <= this.#over && this.tell(leftOut.caption.utterance);
  }

  /**
   * A later text of an utterance; it comes too late if the utterance was told with words. Returns whether it was told
   * at once, as the words of one that had none.
   */
  revise(revision: Revision): boolean {
    this.#turn.revise(revision);
    return revision.utterance <= this.#over && this.tell(revision.utterance);
  }

  /** The turn with utterance number `last` is over. Returns whether there was anything to tell. */
  end(last: number): boolean {
    this.#over = last;
    return this.tell(last);
  }

  /** What was said so far is told to nobody. */
  forget(): void {
    this.#turn.take(Number.POSITIVE_INFINITY);
    this.#leftOut = null;
  }

  /** Tells the words up to utterance number `last`, or all whose finals are out. Returns whether there were any. */
  tell(last = Number.POSITIVE_INFINITY): boolean {
    const voicePrompt = this.#turn.take(last);
    if (voicePrompt === '') return false;
    this.#options.send({ type: 'prompt', voicePrompt, lang: this.#options.lang(), last: true });
    return true;
  }
}

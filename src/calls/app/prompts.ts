import type { Caption, Revision } from '../../transcription/live-transcriber.ts';
import { TurnText } from '../../transcription/turn-text.ts';
import type { PromptFrame } from './frames.ts';

interface PromptsOptions {
  /** BCP 47, as the app named it. */
  readonly lang: string;
  /** Whether the app wants the text of a turn while it is going on. */
  readonly partials: boolean;
  /** Kept for an app that is away. */
  send(prompt: PromptFrame): void;
  /** Dropped where the app is away or behind. */
  sendNow(prompt: PromptFrame): void;
}

/** What the caller says, as prompts: one for each turn, with all its words. */
export class Prompts {
  readonly #options: PromptsOptions;
  readonly #turn = new TurnText();

  constructor(options: PromptsOptions) {
    this.#options = options;
  }

  /** Something of the turn was said. */
  add(caption: Caption): void {
    this.#turn.add(caption);
    const { lang, partials, sendNow } = this.#options;
    if (partials && !caption.final && caption.text !== '')
      sendNow({ type: 'prompt', voicePrompt: this.#turn.text, lang, last: false });
  }

  /** The app is not to have what was said in this utterance. */
  leaveOut(utterance: number): void {
    this.#turn.drop(utterance);
  }

  /** A later text of an utterance; it comes too late if the turn was told. */
  revise(revision: Revision): void {
    this.#turn.revise(revision);
  }

  /**
   * The turn is over: tells it up to utterance number `last`, or as far as its finals are out. Returns whether there
   * was anything to tell.
   */
  tell(last = Number.POSITIVE_INFINITY): boolean {
    const voicePrompt = this.#turn.take(last);
    if (voicePrompt === '') return false;
    this.#options.send({ type: 'prompt', voicePrompt, lang: this.#options.lang, last: true });
    return true;
  }
}

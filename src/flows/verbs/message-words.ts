/** What a caller says in a message, as it is recognised. */
import type { CallerEvent } from '../../calls/app/call-app.ts';
import { saidBetween } from '../../calls/feed/said-between.ts';

const UTTERANCES_MAX = 500;

export class MessageWords {
  readonly #texts = new Map<number, { text: string; readonly startMs: number }>();
  #isSpeaking = false;
  #waiting: (() => void)[] = [];

  /** Resolves when the words of all that was said so far are known. */
  settled(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isSpeaking) this.#waiting.push(resolve);
      else resolve();
    });
  }

  add(event: CallerEvent): void {
    if (event.type === 'speech.started') this.#isSpeaking = true;
    else if (event.type === 'caption' && event.final) this.#addFinal(event);
    else if (event.type === 'revision') this.#revise(event);
    if ((event.type === 'caption' && event.final) || event.type === 'turn.ended') this.end();
  }

  /** Nothing more is waited for. */
  end(): void {
    this.#isSpeaking = false;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** What was said from `startMs` to `endMs` of the call. */
  between(startMs: number, endMs: number): string {
    return saidBetween([...this.#texts.values()], startMs, endMs);
  }

  #addFinal({ utterance, text, startMs }: { utterance: number; text: string; startMs: number }): void {
    if (this.#texts.size < UTTERANCES_MAX) this.#texts.set(utterance, { text, startMs });
  }

  #revise({ utterance, text }: { utterance: number; text: string }): void {
    const known = this.#texts.get(utterance);
    if (known !== undefined) known.text = text;
  }
}

import type { AnswerNews, CallAnswer } from '../../src/calls/answered/answered-by.ts';

/** Who answers a call, in the hand of the test; nobody is waited for unless `isAwaited` is set. */
export class FakeAnswer implements CallAnswer {
  by: CallAnswer['by'] = null;
  isAwaited = false;
  isListening = false;
  readonly #listeners: ((news: AnswerNews) => void)[] = [];

  onNews(listener: (news: AnswerNews) => void): void {
    this.#listeners.push(listener);
  }

  /** This has become known. */
  tell(news: AnswerNews): void {
    if (news.type === 'answered') {
      this.by = news.by;
      this.isAwaited = false;
    }
    if (news.type === 'beep') this.isListening = true;
    for (const listener of this.#listeners) listener(news);
  }
}

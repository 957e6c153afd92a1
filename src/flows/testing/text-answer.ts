/** Who answers a call in text: what its parameter `answeredBy` says, some time after it has begun. */
import type { AnswerNews, CallAnswer } from '../../calls/answered/answered-by.ts';
import { type AnsweredBy, readAnsweredBy, type ToldAnswer } from '../../calls/answered/answered-by.ts';
import { callParameter } from '../../calls/app/request.ts';
import type { Clock } from '../../foundation/clock.ts';
import type { CallStart } from '../../protocols/dialect.ts';

/** Whoever answers says hello first. */
const HELLO_MS = 1000;
/** How long the greeting of a machine lasts that has no beep. */
const GREETING_MS = 6000;

export class TextAnswer implements CallAnswer {
  readonly #clock: Clock;
  readonly #told: ToldAnswer | null;
  readonly #listeners: ((news: AnswerNews) => void)[] = [];
  #by: AnsweredBy | null = null;
  #isListening = false;

  constructor(clock: Clock, parameters: CallStart['parameters']) {
    const told = readAnsweredBy(callParameter(parameters, 'answeredby'));
    this.#clock = clock;
    this.#told = typeof told === 'object' ? told : null;
    if (this.#told !== null) clock.after(HELLO_MS, () => this.#settle());
  }

  get by(): AnsweredBy | null {
    return this.#by;
  }

  get isAwaited(): boolean {
    return this.#by === null && this.#told !== null;
  }

  get isListening(): boolean {
    return this.#isListening;
  }

  onNews(listener: (news: AnswerNews) => void): void {
    this.#listeners.push(listener);
  }

  /** An answering machine beeps, or with false falls silent. */
  beep(heard = true): void {
    if (this.#isListening) return;
    this.#isListening = true;
    this.#tell({ type: 'beep', heard });
  }

  /** A fax machine is heard. */
  fax(): void {
    this.#tell({ type: 'fax', tone: this.#by === 'fax' ? 'ced' : 'cng' });
  }

  #settle(): void {
    if (this.#told === null) return;
    this.#by = this.#told.by;
    if (this.#by === 'fax') this.fax();
    this.#tell({ type: 'answered', by: this.#by });
    if (this.#told.isListening) this.beep();
    else if (this.#by === 'machine') this.#clock.after(GREETING_MS, () => this.beep(false));
  }

  #tell(news: AnswerNews): void {
    for (const listener of this.#listeners) listener(news);
  }
}

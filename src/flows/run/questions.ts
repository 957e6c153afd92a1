/** The questions that a caller was asked, to go back to. */
import { type FlowVerb, verbOf } from '../verbs/table.ts';

/** Nobody goes back further. */
const KEPT_MAX = 200;

/** A question: the step, and how deep the flow that it is of lies in those that call it. */
export interface AskedQuestion {
  readonly depth: number;
  readonly step: string;
}

/** Whether the verb asks the caller something. */
export function isQuestion(verb: FlowVerb): boolean {
  return verbOf(verb).isQuestion === true;
}

/** In the order in which they were asked. */
export class AskedQuestions {
  readonly #asked: AskedQuestion[] = [];

  /** Those that are kept, the first one first. */
  all(): AskedQuestion[] {
    return [...this.#asked];
  }

  /** A question is asked, for the first time or again. */
  note(question: AskedQuestion): void {
    const last = this.#asked.at(-1);
    if (last?.depth === question.depth && last.step === question.step) return;
    this.#asked.push(question);
    if (this.#asked.length > KEPT_MAX) this.#asked.shift();
  }

  /**
   * The question before `from`, the step where the caller is; null = there is none. It is the last one from now on.
   */
  back(from: AskedQuestion): AskedQuestion | null {
    const last = this.#asked.at(-1);
    if (last?.depth === from.depth && last.step === from.step) this.#asked.pop();
    return this.#asked.pop() ?? null;
  }

  /**
   * A flow at `depth` is over, which the step `caller` of the flow above it called: who goes back from there begins
   * that flow again, if it asked anything.
   */
  leave(depth: number, caller: string | null): void {
    let hasAsked = false;
    for (let last = this.#asked.at(-1); last !== undefined && last.depth >= depth; last = this.#asked.at(-1)) {
      hasAsked = true;
      this.#asked.pop();
    }
    if (hasAsked && caller !== null) this.note({ depth: depth - 1, step: caller });
  }
}

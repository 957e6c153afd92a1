/** What is seen of a call that a scripted caller makes: steps, variables, what was heard, and how it ended. */
import type { FlowValue } from '../file/conditions.ts';

/** Something that the flow did. */
export type CallNews =
  | { readonly type: 'step'; readonly flow: string; readonly step: string; readonly verb: string }
  | { readonly type: 'input'; readonly outcome: string; readonly text: string | null; readonly value: FlowValue }
  | { readonly type: 'set'; readonly name: string; readonly value: FlowValue }
  /** Something that was said is over; `heard` = what of it the caller heard. */
  | { readonly type: 'spoken'; readonly text: string; readonly heard: string; readonly interrupted: boolean }
  | { readonly type: 'ended'; readonly outcome: string; readonly reason: string | null }
  /** The line is dead. */
  | { readonly type: 'over' };

/** Verbs at which a caller is waited for. */
const LISTENING: readonly string[] = ['menu', 'gather', 'confirm', 'record', 'app', 'queueMusic'];

/** Those of them that make something of all that the caller does. */
const ANSWERED: readonly string[] = ['menu', 'gather', 'confirm'];

/** A step that the flow came to. */
export interface TakenStep {
  readonly flow: string;
  readonly step: string;
}

export class ObservedCall {
  readonly steps: TakenStep[] = [];
  readonly variables = new Map<string, FlowValue>();
  /** What both sides did, a line each, for whoever reads why a test failed. */
  readonly dialogue: string[] = [];
  /** How the flow ended; null = it has not. */
  outcome: string | null = null;
  reason: string | null = null;
  isOver = false;
  /** How often something was noted. */
  newsCount = 0;
  #verb: string | null = null;
  #heard: string[] = [];
  /** What had been noted when the caller did something last; null = nothing yet. */
  #didAt: number | null = null;
  /** The number of steps before the caller did something last. */
  #stepsBefore = 0;
  /** Whether something was said since the flow asked. */
  #hasAsked = false;

  /** The step that the flow is at; null = at none yet. */
  get step(): string | null {
    return this.steps.at(-1)?.step ?? null;
  }

  /** Whether the flow is at a step that does `verb`. */
  isAt(verb: string): boolean {
    return this.outcome === null && this.#verb === verb;
  }

  /** Whether the flow is at a step that waits for the caller. */
  get isAtQuestion(): boolean {
    return this.outcome === null && this.#verb !== null && LISTENING.includes(this.#verb);
  }

  /** Whether it is at one that makes something of all that the caller does. */
  get isAnswered(): boolean {
    return this.isAtQuestion && ANSWERED.includes(this.#verb ?? '');
  }

  /** Whether it is, and has said what it asks. */
  get hasAsked(): boolean {
    return this.isAtQuestion && this.#hasAsked;
  }

  /** Whether the flow did something since the caller did. */
  get hasReacted(): boolean {
    return this.#didAt === null || this.newsCount > this.#didAt;
  }

  /** What the caller heard since the caller did something last. */
  get heard(): string {
    return this.#heard.join(' ');
  }

  /** Steps that the flow came to since the caller did something last, and the one that it was at then. */
  get recentSteps(): readonly string[] {
    return this.steps.slice(Math.max(this.#stepsBefore - 1, 0)).map(({ step }) => step);
  }

  /** The caller does something: what is asked of the flow from now on comes after it. */
  begin(what: string): void {
    this.dialogue.push(`caller  ${what}`);
    this.#heard = [];
    this.#didAt = this.newsCount;
    this.#stepsBefore = this.steps.length;
  }

  note(news: CallNews): void {
    this.newsCount += 1;
    switch (news.type) {
      case 'step':
        this.steps.push({ flow: news.flow, step: news.step });
        this.dialogue.push(`step    ${news.step} (${news.verb})`);
        this.#verb = news.verb;
        this.#hasAsked = false;
        return;
      case 'input':
        this.dialogue.push(`        ${describeInput(news)}`);
        this.#hasAsked = false;
        return;
      case 'set':
        this.variables.set(news.name, news.value);
        return;
      case 'spoken':
        this.dialogue.push(`flow    ${news.heard}${news.interrupted ? ' […]' : ''}`);
        this.#heard.push(news.interrupted ? news.heard : news.text);
        this.#hasAsked = true;
        return;
      case 'ended':
        this.outcome = news.outcome;
        this.reason = news.reason;
        this.dialogue.push(`ended   ${news.outcome}${news.reason === null ? '' : `: ${news.reason}`}`);
        return;
      case 'over':
        this.isOver = true;
    }
  }
}

/** What became of a question, in words. */
export function describeInput({ outcome, text, value }: Extract<CallNews, { type: 'input' }>): string {
  if (outcome === 'noInput') return 'heard nothing';
  const what = text === null ? 'something private' : `"${text}"`;
  return outcome === 'match' ? `understood ${what} as ${JSON.stringify(value)}` : `understood nothing in ${what}`;
}

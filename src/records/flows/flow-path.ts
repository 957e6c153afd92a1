/**
 * The way of one call through its flow: each visit of a step from its beginning to where it led. Pure.
 */
import type { FeedEvent, FlowInputEvent, FlowOutcome, FlowStepEvent } from '../../calls/feed/events.ts';

/** What the feed tells of flows. */
export type FlowEvent = Extract<FeedEvent, { readonly type: `flow.${string}` }>;

/** How a visit ended that no other step followed. `lost`: the call ended, and nobody told how the flow did. */
export type VisitEnd = FlowOutcome | 'lost';

/**
 * Why a visit ended: with an answer (`match`; `detail` = of a menu or a yes-or-no question, which), without one, by a
 * key that always works, or because the step could not be done. Null = the step says it all.
 */
export interface ExitReason {
  readonly reason: 'match' | 'noMatch' | 'noInput' | 'failed' | 'key' | 'fax' | null;
  readonly detail: string | null;
}

/** Where a visit led: a step, of the same flow or of one that it calls, or the end of the flow. */
export type VisitExit = ExitReason &
  ({ readonly kind: 'step'; readonly flow: string; readonly step: string } | { readonly kind: VisitEnd });

type VisitTarget =
  | { readonly kind: 'step'; readonly flow: string; readonly step: string }
  | { readonly kind: VisitEnd };

/** One visit of a step. */
export interface StepVisit {
  readonly flow: string;
  readonly step: string;
  readonly verb: string;
  /** Ms of the call. */
  readonly atMs: number;
  /** Null = it goes on. */
  readonly exit: VisitExit | null;
  /** Ms of the call at which it ended; null = it goes on, or nobody knows. */
  readonly endMs: number | null;
  /** The call ended in it, and not in a flow that it had called. */
  readonly isLast: boolean;
}

interface OpenVisit extends Pick<StepVisit, 'flow' | 'step' | 'verb' | 'atMs'> {
  /** What became of its question last. */
  answer: ExitReason;
}

const NO_REASON: ExitReason = { reason: null, detail: null };
/** Their answers are the writer's words; those of others are the caller's. */
const VERBS_OF_CHOICE = ['menu', 'confirm'];
const DETAIL_MAX_CHARS = 100;

/** Flows that call each other are open at the same time; the checks allow far fewer. */
const OPEN_MAX = 50;

/** Follows one call. A step that calls a flow is open until that flow has returned. */
export class FlowPath {
  readonly #open: OpenVisit[] = [];
  readonly #onVisit: (visit: StepVisit) => void;

  /** @param onVisit is told of each visit when it is over, or at the end of what is known */
  constructor(onVisit: (visit: StepVisit) => void) {
    this.#onVisit = onVisit;
  }

  /** Takes the next event; the order is that of the feed. */
  add(event: FlowEvent): void {
    if (event.type === 'flow.step') this.#enter(event);
    else if (event.type === 'flow.input') this.#answer(event);
    else if (event.type === 'flow.ended') this.#endAll({ kind: event.outcome }, event.atMs);
  }

  /** There are no more events. `isOver` = the call has ended. */
  finish(isOver: boolean): void {
    this.#endAll(isOver ? { kind: 'lost' } : null, null);
  }

  #answer({ flow, step, outcome, value }: FlowInputEvent): void {
    const visit = this.#open.at(-1);
    if (visit === undefined || visit.flow !== flow || visit.step !== step) return;
    const isChoice = outcome === 'match' && VERBS_OF_CHOICE.includes(visit.verb) && value !== null;
    visit.answer = { reason: outcome, detail: isChoice ? String(value).slice(0, DETAIL_MAX_CHARS) : null };
  }

  #enter({ flow, step, verb, by, atMs }: FlowStepEvent): void {
    const current = this.#open.at(-1);
    const calls = current?.verb === 'flow' && current.flow !== flow && this.#open.length < OPEN_MAX;
    const why = by === undefined ? null : { reason: by, detail: null };
    if (!calls) this.#leaveFor({ kind: 'step', flow, step }, why, atMs);
    this.#open.push({ flow, step, verb, atMs, answer: NO_REASON });
  }

  /** Ends the step before this one. Flows that were called in between have returned. */
  #leaveFor(to: VisitTarget & { kind: 'step' }, why: ExitReason | null, atMs: number): void {
    const isKnown = this.#open.some(({ flow }) => flow === to.flow);
    while (isKnown && this.#open.at(-1)?.flow !== to.flow) this.#close({ kind: 'done' }, why, { atMs, isLast: false });
    this.#close(to, why, { atMs, isLast: false });
  }

  #endAll(to: VisitTarget | null, atMs: number | null): void {
    // Who hangs up does so for no answer that was given before.
    const why = to === null || to.kind === 'done' || to.kind === 'transferred' ? null : NO_REASON;
    for (let isLast = true; this.#open.length > 0; isLast = false) this.#close(to, why, { atMs, isLast });
  }

  /** @param why null = what became of its question */
  #close(to: VisitTarget | null, why: ExitReason | null, end: { atMs: number | null; isLast: boolean }): void {
    const visit = this.#open.pop();
    if (visit === undefined) return;
    const { answer, ...rest } = visit;
    const exit = to === null ? null : { ...to, ...(why ?? answer) };
    this.#onVisit({ ...rest, exit, endMs: end.atMs, isLast: end.isLast });
  }
}

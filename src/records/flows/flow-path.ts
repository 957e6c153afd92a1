/**
 * The way of one call through its flow: each visit of a step from its beginning to where it led. Pure.
 */
import type { FeedEvent, FlowOutcome } from '../../calls/feed/events.ts';

/** What the feed tells of flows. */
export type FlowEvent = Extract<FeedEvent, { readonly type: `flow.${string}` }>;

/** How a visit ended that no other step followed. `lost`: the call ended, and nobody told how the flow did. */
export type VisitEnd = FlowOutcome | 'lost';

/** Where a visit led: a step, of the same flow or of one that it calls, or the end of the flow. */
export type VisitExit =
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

interface OpenVisit extends Pick<StepVisit, 'flow' | 'step' | 'verb' | 'atMs'> {}

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
    else if (event.type === 'flow.ended') this.#endAll({ kind: event.outcome }, event.atMs);
  }

  /** There are no more events. `isOver` = the call has ended. */
  finish(isOver: boolean): void {
    this.#endAll(isOver ? { kind: 'lost' } : null, null);
  }

  #enter({ flow, step, verb, atMs }: OpenVisit): void {
    const current = this.#open.at(-1);
    const calls = current?.verb === 'flow' && current.flow !== flow && this.#open.length < OPEN_MAX;
    if (!calls) this.#leaveFor({ kind: 'step', flow, step }, atMs);
    this.#open.push({ flow, step, verb, atMs });
  }

  /** Ends the step before this one. Flows that were called in between have returned. */
  #leaveFor(exit: VisitExit & { kind: 'step' }, atMs: number): void {
    const isKnown = this.#open.some(({ flow }) => flow === exit.flow);
    while (isKnown && this.#open.at(-1)?.flow !== exit.flow) this.#close({ kind: 'done' }, atMs, false);
    this.#close(exit, atMs, false);
  }

  #endAll(exit: VisitExit | null, atMs: number | null): void {
    for (let isLast = true; this.#open.length > 0; isLast = false) this.#close(exit, atMs, isLast);
  }

  #close(exit: VisitExit | null, endMs: number | null, isLast: boolean): void {
    const visit = this.#open.pop();
    if (visit !== undefined) this.#onVisit({ ...visit, exit, endMs, isLast });
  }
}

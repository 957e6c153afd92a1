/** What many calls of one flow add up to. Pure: rows and events in, figures out. */
import { type FlowEvent, FlowPath, type StepVisit, type VisitEnd } from './flow-path.ts';
import { type StepState, type StepStatistics, StepTally } from './step-tally.ts';

/** Different versions, and different steps, that are told. */
const VERSIONS_MAX = 100;
const STEPS_MAX = 2000;

/** A version of a flow that calls went through. */
interface VersionUse {
  readonly version: string;
  readonly calls: number;
  /** When the first and the last of these calls began, ms since 1970. */
  readonly firstMs: number;
  readonly lastMs: number;
}

/** How calls went through a flow. */
export interface FlowStatistics {
  /** Calls that were counted. */
  readonly calls: number;
  /** False = the time for counting was over: the latest calls were counted, and the next request goes on. */
  readonly isComplete: boolean;
  /** How the flow ended in them; `underWay` = it goes on. */
  readonly outcomes: Readonly<Record<VisitEnd | 'underWay', number>>;
  /** All versions of the period, the latest first. */
  readonly versions: readonly VersionUse[];
  /** The steps that were reached, the most frequent first; those of flows that it calls too. */
  readonly steps: readonly StepStatistics[];
}

/** A row of `calls`, as far as it matters here. */
export interface CountedCall {
  readonly seq: number;
  readonly started_ms: number;
  /** That it began with. */
  readonly flow: string | null;
  readonly flow_version: string | null;
  readonly state: string;
}

/** What is counted: the calls of a flow, or of those of others that reached it (flow-analytics.ts). */
interface CountScope {
  readonly flow: string;
  readonly version: string | null;
  readonly within: readonly string[];
}

/** What was counted, as JSON, to be added to other counts. */
export interface CountState {
  readonly calls: number;
  readonly outcomes: FlowStatistics['outcomes'];
  readonly versions: readonly VersionUse[];
  readonly steps: readonly StepState[];
}

/** What is known of a call of this slice. */
interface SliceCall {
  readonly isOver: boolean;
  /** It began with another flow: it counts from when it reaches this one. */
  readonly isForeign: boolean;
}

/** Counts calls, which come slice by slice, the latest first, and their events. */
export class FlowCount {
  readonly #scope: CountScope;
  readonly #steps = new Map<string, StepTally>();
  readonly #versions = new Map<string, { calls: number; firstMs: number; lastMs: number }>();
  readonly #outcomes: Record<VisitEnd | 'underWay', number> = {
    done: 0,
    transferred: 0,
    hangup: 0,
    failed: 0,
    lost: 0,
    underWay: 0,
  };
  /** The calls of this slice whose events are counted. */
  #slice = new Map<number, SliceCall>();
  #current: Current | null = null;
  #calls = 0;

  constructor(scope: CountScope) {
    this.#scope = scope;
  }

  /** Takes the next calls. Returns the numbers of those whose events are wanted, in ascending order. */
  take(calls: readonly CountedCall[]): number[] {
    const { flow: counted, version } = this.#scope;
    for (const call of calls) if (call.flow === counted) this.#noteVersion(call);
    // The versions of other flows are others.
    const wanted = calls.filter((call) => version === null || (call.flow === counted && call.flow_version === version));
    this.#slice = new Map(
      wanted.map(({ seq, state, flow }) => [seq, { isOver: state === 'ended', isForeign: flow !== counted }]),
    );
    return [...this.#slice.keys()].toSorted((a, b) => a - b);
  }

  /** An event of a call that was taken last; those of one call come together and in their order. */
  add(call: number, event: FlowEvent): void {
    if (this.#current?.call !== call) {
      this.#finishCall();
      this.#current = {
        call,
        path: new FlowPath((visit) => this.#tallyOf(call, visit)?.addVisit(call, visit)),
        hasReached: !this.#isForeign(call),
        ended: null,
      };
    }
    const current = this.#current;
    if (event.type === 'flow.step') {
      if (event.flow === this.#scope.flow) current.hasReached = true;
      if (this.#isWithin(call, event)) this.#begin(event);
    }
    current.path.add(event);
    if (event.type === 'flow.ended') current.ended = event.outcome;
    if (event.type === 'flow.input') this.#tallyOf(call, event)?.addInput(event);
  }

  /** All events of the calls that were taken last have come. */
  finishSlice(): void {
    this.#finishCall();
    // Nothing was told of the others: what was to be stored was lost.
    for (const { isOver, isForeign } of this.#slice.values()) if (!isForeign) this.#noteOutcome(null, isOver);
    this.#slice.clear();
  }

  save(): CountState {
    const versions = [...this.#versions].map(([version, use]) => ({ version, ...use }));
    const steps = [...this.#steps.values()].map((step) => step.save());
    return { calls: this.#calls, outcomes: { ...this.#outcomes }, versions, steps };
  }

  /** Adds what was counted of other calls. */
  addCount({ calls, outcomes, versions, steps }: CountState): void {
    this.#calls += calls;
    for (const [outcome, count] of Object.entries(outcomes)) this.#outcomes[outcome as VisitEnd | 'underWay'] += count;
    for (const { version, ...use } of versions) this.#addVersion(version, use);
    for (const step of steps) {
      this.#begin(step.name);
      this.#steps.get(keyOf(step.name))?.add(step);
    }
  }

  read(isComplete: boolean): FlowStatistics {
    const versions = [...this.#versions].map(([version, use]) => ({ version, ...use }));
    const steps = [...this.#steps.values()].map((step) => step.read());
    return {
      calls: this.#calls,
      isComplete,
      outcomes: { ...this.#outcomes },
      versions: versions.toSorted((a, b) => b.lastMs - a.lastMs),
      steps: steps.toSorted((a, b) => b.visits - a.visits),
    };
  }

  #finishCall(): void {
    if (this.#current === null) return;
    const { call, path, ended, hasReached } = this.#current;
    const isOver = this.#slice.get(call)?.isOver ?? true;
    path.finish(isOver);
    if (hasReached) this.#noteOutcome(ended, isOver);
    this.#slice.delete(call);
    this.#current = null;
  }

  #noteOutcome(ended: VisitEnd | null, isOver: boolean): void {
    this.#calls++;
    this.#outcomes[ended ?? (isOver ? 'lost' : 'underWay')]++;
  }

  #isForeign(call: number): boolean {
    return this.#slice.get(call)?.isForeign === true;
  }

  /** Whether a step of this call is counted. */
  #isWithin(call: number, { flow }: { readonly flow: string }): boolean {
    return !this.#isForeign(call) || this.#scope.within.includes(flow);
  }

  /** Null = the step is not counted. */
  #tallyOf(call: number, step: { readonly flow: string; readonly step: string }): StepTally | null {
    return this.#isWithin(call, step) ? (this.#steps.get(keyOf(step)) ?? null) : null;
  }

  #begin(step: Pick<StepVisit, 'flow' | 'step' | 'verb'>): void {
    const key = keyOf(step);
    if (!this.#steps.has(key) && this.#steps.size < STEPS_MAX) this.#steps.set(key, new StepTally(step));
  }

  #noteVersion({ flow_version: version, started_ms: ms }: CountedCall): void {
    if (version === null) return;
    this.#addVersion(version, { calls: 1, firstMs: ms, lastMs: ms });
  }

  #addVersion(version: string, { calls, firstMs, lastMs }: Omit<VersionUse, 'version'>): void {
    const known = this.#versions.get(version);
    if (known !== undefined) {
      known.calls += calls;
      known.firstMs = Math.min(known.firstMs, firstMs);
      known.lastMs = Math.max(known.lastMs, lastMs);
    } else if (this.#versions.size < VERSIONS_MAX) this.#versions.set(version, { calls, firstMs, lastMs });
  }
}

/** The call whose events come. */
interface Current {
  readonly call: number;
  readonly path: FlowPath;
  hasReached: boolean;
  ended: VisitEnd | null;
}

function keyOf({ flow, step }: { readonly flow: string; readonly step: string }): string {
  return `${flow} ${step}`;
}

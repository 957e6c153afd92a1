/** What many calls of one flow add up to. Pure: rows and events in, figures out. */
import { type FlowEvent, FlowPath, type StepVisit, type VisitEnd } from './flow-path.ts';
import { type StepStatistics, StepTally } from './step-tally.ts';

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
  /** False = there were more calls in the period, and the latest were counted. */
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
  readonly flow_version: string | null;
  readonly state: string;
}

/** Counts calls, which come slice by slice, the latest first, and their events. */
export class FlowCount {
  readonly #version: string | null;
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
  /** The calls of this slice that are counted, and whether each is over. */
  #slice = new Map<number, boolean>();
  #current: { readonly call: number; readonly path: FlowPath; ended: VisitEnd | null } | null = null;
  #seen = 0;
  #calls = 0;

  /** @param version the only one that is counted; null = all */
  constructor(version: string | null) {
    this.#version = version;
  }

  /** Calls that were taken, of any version. */
  get seen(): number {
    return this.#seen;
  }

  /** Takes the next calls. Returns the numbers of those whose events are wanted, in ascending order. */
  take(calls: readonly CountedCall[]): number[] {
    this.#seen += calls.length;
    for (const call of calls) this.#noteVersion(call);
    const wanted = calls.filter(({ flow_version }) => this.#version === null || flow_version === this.#version);
    this.#slice = new Map(wanted.map(({ seq, state }) => [seq, state === 'ended']));
    this.#calls += wanted.length;
    return [...this.#slice.keys()].toSorted((a, b) => a - b);
  }

  /** An event of a call that was taken last; those of one call come together and in their order. */
  add(call: number, event: FlowEvent): void {
    if (this.#current?.call !== call) {
      this.#finishCall();
      this.#current = {
        call,
        path: new FlowPath((visit) => this.#steps.get(keyOf(visit))?.addVisit(call, visit)),
        ended: null,
      };
    }
    const { path } = this.#current;
    if (event.type === 'flow.step') this.#begin(event);
    path.add(event);
    if (event.type === 'flow.ended') this.#current.ended = event.outcome;
    if (event.type === 'flow.input') this.#steps.get(keyOf(event))?.addInput(event);
  }

  /** All events of the calls that were taken last have come. */
  finishSlice(): void {
    this.#finishCall();
    // Nothing was told of the others: what was to be stored was lost.
    for (const isOver of this.#slice.values()) this.#outcomes[isOver ? 'lost' : 'underWay']++;
    this.#slice.clear();
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
    const { call, path, ended } = this.#current;
    const isOver = this.#slice.get(call) ?? true;
    path.finish(isOver);
    this.#outcomes[ended ?? (isOver ? 'lost' : 'underWay')]++;
    this.#slice.delete(call);
    this.#current = null;
  }

  #begin(step: Pick<StepVisit, 'flow' | 'step' | 'verb'>): void {
    const key = keyOf(step);
    if (!this.#steps.has(key) && this.#steps.size < STEPS_MAX) this.#steps.set(key, new StepTally(step));
  }

  #noteVersion({ flow_version: version, started_ms: ms }: CountedCall): void {
    if (version === null) return;
    const known = this.#versions.get(version);
    if (known !== undefined) {
      known.calls++;
      known.firstMs = Math.min(known.firstMs, ms);
      known.lastMs = Math.max(known.lastMs, ms);
    } else if (this.#versions.size < VERSIONS_MAX) this.#versions.set(version, { calls: 1, firstMs: ms, lastMs: ms });
  }
}

function keyOf({ flow, step }: { readonly flow: string; readonly step: string }): string {
  return `${flow} ${step}`;
}

/** What the visits of one step add up to. Pure. */
import type { FlowInputEvent } from '../../calls/feed/events.ts';
import type { StepVisit, VisitExit } from './flow-path.ts';

/** Different texts of one step that are counted. */
const TEXTS_MAX = 1000;
/** Of them, those that are shown. */
const TEXTS_SHOWN = 50;
/** Times are kept with so many digits, and so in few different values however many visits there are. */
const TIME_DIGITS = 3;
const TEXT_MAX_CHARS = 200;
/** Different ways out of one step. */
const EXITS_MAX = 500;

/** Something that callers said or pressed and that the step did not know. */
export interface UnmatchedText {
  readonly text: string;
  readonly kind: 'keys' | 'speech';
  readonly count: number;
}

/** One step in all calls that were counted. */
export interface StepStatistics {
  readonly flow: string;
  readonly step: string;
  readonly verb: string;
  /** Calls that reached it, and how often in all. */
  readonly calls: number;
  readonly visits: number;
  /** Visits that go on now. */
  readonly underWay: number;
  /** Where visits led, and why, the most frequent first. */
  readonly exits: readonly { readonly exit: VisitExit; readonly count: number }[];
  readonly matches: number;
  readonly noMatches: number;
  readonly noInputs: number;
  /** Time in the step; null = no visit has ended. */
  readonly time: { readonly p50Ms: number; readonly p95Ms: number } | null;
  /** Calls whose caller hung up in it. */
  readonly hangups: number;
  /** What matched nothing, the most frequent first. */
  readonly unmatched: readonly UnmatchedText[];
}

type UnmatchedEntry = readonly [key: string, text: UnmatchedText];

/** A tally as JSON, to be added to others. */
export interface StepState {
  readonly name: Pick<StepStatistics, 'flow' | 'step' | 'verb'>;
  readonly exits: StepStatistics['exits'];
  readonly texts: readonly UnmatchedEntry[];
  /** Times in ms, and how many visits took each. */
  readonly times: readonly (readonly [ms: number, visits: number])[];
  readonly outcomes: Readonly<Record<'match' | 'noMatch' | 'noInput', number>>;
  readonly counts: Readonly<Record<'calls' | 'visits' | 'underWay' | 'hangups', number>>;
}

/** Counts one step. Calls come one after the other. */
export class StepTally {
  readonly #name: Pick<StepStatistics, 'flow' | 'step' | 'verb'>;
  readonly #exits = new Map<string, { readonly exit: VisitExit; count: number }>();
  readonly #texts = new Map<string, { readonly text: string; readonly kind: UnmatchedText['kind']; count: number }>();
  readonly #times = new Map<number, number>();
  readonly #outcomes = { match: 0, noMatch: 0, noInput: 0 };
  #lastCall: number | null = null;
  #calls = 0;
  #visits = 0;
  #underWay = 0;
  #hangups = 0;

  constructor({ flow, step, verb }: Pick<StepStatistics, 'flow' | 'step' | 'verb'>) {
    this.#name = { flow, step, verb };
  }

  /** A visit of the call with the number `call`. */
  addVisit(call: number, { exit, atMs, endMs, isLast }: StepVisit): void {
    this.#visits++;
    if (call !== this.#lastCall) this.#calls++;
    this.#lastCall = call;
    if (exit === null) this.#underWay++;
    else this.#addExit(exit);
    if (isLast && exit?.kind === 'hangup') this.#hangups++;
    if (endMs === null) return;
    const tookMs = Number(Math.max(0, endMs - atMs).toPrecision(TIME_DIGITS));
    this.#times.set(tookMs, (this.#times.get(tookMs) ?? 0) + 1);
  }

  /** What became of a question. */
  addInput({ outcome, kind, text }: Pick<FlowInputEvent, 'outcome' | 'kind' | 'text'>): void {
    this.#outcomes[outcome]++;
    if (outcome !== 'noMatch' || kind === 'none' || text === null || text.trim() === '') return;
    this.#addText(`${kind} ${plainOf(text)}`, { text: text.trim().slice(0, TEXT_MAX_CHARS), kind, count: 1 });
  }

  read(): StepStatistics {
    const { match, noMatch, noInput } = this.#outcomes;
    return {
      ...this.#name,
      calls: this.#calls,
      visits: this.#visits,
      underWay: this.#underWay,
      exits: [...this.#exits.values()].toSorted(byCount),
      matches: match,
      noMatches: noMatch,
      noInputs: noInput,
      time: percentilesOf(this.#times),
      hangups: this.#hangups,
      unmatched: [...this.#texts.values()].toSorted(byCount).slice(0, TEXTS_SHOWN),
    };
  }

  save(): StepState {
    return {
      name: this.#name,
      exits: [...this.#exits.values()],
      texts: [...this.#texts],
      times: [...this.#times],
      outcomes: { ...this.#outcomes },
      counts: { calls: this.#calls, visits: this.#visits, underWay: this.#underWay, hangups: this.#hangups },
    };
  }

  /** Adds what was counted of other calls. */
  add({ exits, texts, times, outcomes, counts }: StepState): void {
    for (const { exit, count } of exits) this.#addExit(exit, count);
    for (const [key, text] of texts) this.#addText(key, text);
    for (const [ms, visits] of times) this.#times.set(ms, (this.#times.get(ms) ?? 0) + visits);
    this.#outcomes.match += outcomes.match;
    this.#outcomes.noMatch += outcomes.noMatch;
    this.#outcomes.noInput += outcomes.noInput;
    this.#calls += counts.calls;
    this.#visits += counts.visits;
    this.#underWay += counts.underWay;
    this.#hangups += counts.hangups;
  }

  #addExit(exit: VisitExit, count = 1): void {
    const key = JSON.stringify(exit);
    const known = this.#exits.get(key);
    if (known !== undefined) known.count += count;
    else if (this.#exits.size < EXITS_MAX) this.#exits.set(key, { exit, count });
  }

  #addText(key: string, { text, kind, count }: UnmatchedText): void {
    const known = this.#texts.get(key);
    if (known !== undefined) known.count += count;
    else if (this.#texts.size < TEXTS_MAX) this.#texts.set(key, { text, kind, count });
  }
}

/** The same words, whatever their case, spaces and punctuation. */
function plainOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[.,;:!?…]/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}

function byCount(a: { readonly count: number }, b: { readonly count: number }): number {
  return b.count - a.count;
}

function percentilesOf(times: ReadonlyMap<number, number>): StepStatistics['time'] {
  if (times.size === 0) return null;
  const sorted = [...times].toSorted(([a], [b]) => a - b);
  const visits = sorted.reduce((sum, [, count]) => sum + count, 0);
  const at = (share: number): number => {
    let before = 0;
    const found = sorted.find(([, count]) => {
      before += count;
      return before >= Math.ceil(visits * share);
    });
    return Math.round(found?.[0] ?? 0);
  };
  return { p50Ms: at(0.5), p95Ms: at(0.95) };
}

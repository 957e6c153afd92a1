/** What the visits of one step add up to. Pure. */
import type { FlowInputEvent } from '../../calls/feed/events.ts';
import type { StepVisit, VisitExit } from './flow-path.ts';

/** Different texts of one step that are counted. */
const TEXTS_MAX = 1000;
/** Of them, those that are shown. */
const TEXTS_SHOWN = 50;
/** Visits whose time is measured. */
const TIMES_MAX = 10_000;
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

/** Counts one step. Calls come one after the other. */
export class StepTally {
  readonly #name: Pick<StepStatistics, 'flow' | 'step' | 'verb'>;
  readonly #exits = new Map<string, { readonly exit: VisitExit; count: number }>();
  readonly #texts = new Map<string, { readonly text: string; readonly kind: UnmatchedText['kind']; count: number }>();
  readonly #timesMs: number[] = [];
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
    if (endMs !== null && this.#timesMs.length < TIMES_MAX) this.#timesMs.push(Math.max(0, endMs - atMs));
  }

  /** What became of a question. */
  addInput({ outcome, kind, text }: Pick<FlowInputEvent, 'outcome' | 'kind' | 'text'>): void {
    this.#outcomes[outcome]++;
    if (outcome !== 'noMatch' || kind === 'none' || text === null || text.trim() === '') return;
    const key = `${kind} ${plainOf(text)}`;
    const known = this.#texts.get(key);
    if (known !== undefined) known.count++;
    else if (this.#texts.size < TEXTS_MAX)
      this.#texts.set(key, { text: text.trim().slice(0, TEXT_MAX_CHARS), kind, count: 1 });
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
      time: percentilesOf(this.#timesMs),
      hangups: this.#hangups,
      unmatched: [...this.#texts.values()].toSorted(byCount).slice(0, TEXTS_SHOWN),
    };
  }

  #addExit(exit: VisitExit): void {
    const key = JSON.stringify(exit);
    const known = this.#exits.get(key);
    if (known !== undefined) known.count++;
    else if (this.#exits.size < EXITS_MAX) this.#exits.set(key, { exit, count: 1 });
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

function percentilesOf(timesMs: readonly number[]): StepStatistics['time'] {
  if (timesMs.length === 0) return null;
  const sorted = timesMs.toSorted((a, b) => a - b);
  const at = (share: number): number => Math.round(sorted[Math.ceil(sorted.length * share) - 1] ?? 0);
  return { p50Ms: at(0.5), p95Ms: at(0.95) };
}

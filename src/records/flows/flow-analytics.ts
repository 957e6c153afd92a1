/**
 * How calls went through a flow, counted from what is stored of them. Statements are short, and calls are read in
 * slices: writes and other readers wait for at most one.
 */
import type { Clock } from '../../foundation/clock.ts';
import type { RecordsDatabase } from '../records-database.ts';
import { type CountedCall, type CountState, FlowCount, type FlowStatistics } from './flow-count.ts';
import { DAY_MS, FlowDays } from './flow-days.ts';
import { readFlowEvents } from './flow-events.ts';

/** Counting begins with no other day after so long; what was counted is kept, and the next request goes on. */
const COUNTING_MAX_MS = 10_000;
/** A day whose end is not longer ago is not kept: its last calls may be stored late. */
const SETTLED_MS = 3_600_000;
/** Calls of one list that are counted; more are "that many or more". */
const LISTED_CALLS_MAX = 10_000;
/** Calls of one slice. */
const SLICE_MIN = 10;
const SLICE_MAX = 80;
const SLICE_SLOW_MS = 12;
const SLICE_FAST_MS = 4;

/** Which calls are counted. Times are ms since 1970. */
export interface StatisticsRequest {
  readonly flow: string;
  /** Flows that call it: of their calls those count that reached it. */
  readonly callers: readonly string[];
  /** It and the flows that it calls: of calls that began with another flow, only their steps are counted. */
  readonly within: readonly string[];
  /** They began then or later, and before. */
  readonly fromMs: number;
  readonly toMs: number;
  /** The only version; null = all. */
  readonly version: string | null;
}

interface Options {
  readonly database: Pick<RecordsDatabase, 'db' | 'reader' | 'kind'>;
  readonly clock: Clock;
}

/** Counts over one database. */
export class FlowAnalytics {
  readonly #options: Options;
  readonly #days: FlowDays;

  constructor(options: Options) {
    this.#options = options;
    this.#days = new FlowDays(options.database);
  }

  /** How many calls began with `flow` since then, at most {@link LISTED_CALLS_MAX}, and when the last did. */
  async callsSince(flow: string, sinceMs: number): Promise<{ calls: number; isMore: boolean; lastMs: number | null }> {
    const { reader } = this.#options.database;
    const latest = reader.selectFrom('calls').select('started_ms').where('flow', '=', flow);
    const counted = latest.where('started_ms', '>=', sinceMs).limit(LISTED_CALLS_MAX + 1);
    const found = await reader
      .selectFrom(counted.as('counted'))
      .select(({ fn }) => fn.countAll<number>().as('calls'))
      .executeTakeFirstOrThrow();
    const last = await latest.orderBy('started_ms', 'desc').limit(1).executeTakeFirst();
    const calls = Number(found.calls);
    return {
      calls: Math.min(calls, LISTED_CALLS_MAX),
      isMore: calls > LISTED_CALLS_MAX,
      lastMs: last?.started_ms ?? null,
    };
  }

  /** Day by day, the latest first. @throws the reason of `signal` when it aborts */
  async count(request: StatisticsRequest, signal: AbortSignal): Promise<FlowStatistics> {
    const { clock } = this.#options;
    const count = new FlowCount(request);
    const endMs = clock.nowMs() + COUNTING_MAX_MS;
    for (let toMs = request.toMs; ; ) {
      signal.throwIfAborted();
      const latestMs = (await this.#calls({ ...request, toMs }, null, 1))[0]?.started_ms;
      if (latestMs === undefined) return count.read(true);
      if (clock.nowMs() > endMs) return count.read(false);
      const dayMs = latestMs - (latestMs % DAY_MS);
      count.addCount(await this.#countDay({ ...request, toMs: Math.min(toMs, dayMs + DAY_MS) }, dayMs, signal));
      toMs = dayMs;
    }
  }

  /** What there is of a day before `toMs`. A whole one that is over is counted once. */
  async #countDay(request: StatisticsRequest, dayMs: number, signal: AbortSignal): Promise<CountState> {
    const { flow, callers, within, version, fromMs, toMs } = request;
    const isOver = dayMs + DAY_MS + SETTLED_MS <= this.#options.clock.wall().getTime();
    const ofDay = { ...request, fromMs: Math.max(fromMs, dayMs) };
    if (!isOver || fromMs > dayMs || toMs < dayMs + DAY_MS) return this.#countCalls(ofDay, signal);
    const scope = JSON.stringify([flow, [...callers].toSorted(), [...within].toSorted(), version]);
    const known = await this.#days.find(dayMs, scope);
    if (known !== null) return known;
    const begunAt = await this.#days.begin(dayMs);
    const counted = await this.#countCalls(ofDay, signal);
    // Others may name versions that never were, and calls that go on change what they count for.
    if (counted.calls > 0 && counted.outcomes.underWay === 0) await this.#days.store(dayMs, scope, counted, begunAt);
    return counted;
  }

  async #countCalls(request: StatisticsRequest, signal: AbortSignal): Promise<CountState> {
    const { clock, database } = this.#options;
    const count = new FlowCount(request);
    let size = SLICE_MIN;
    let before: CountedCall | null = null;
    for (;;) {
      signal.throwIfAborted();
      const beganMs = clock.nowMs();
      const slice: CountedCall[] = await this.#calls(request, before, size);
      const wanted = count.take(slice);
      for await (const events of readFlowEvents(database.reader, wanted))
        for (const { call, event } of events) count.add(call, event);
      count.finishSlice();
      if (slice.length < size) return count.save();
      before = slice.at(-1) ?? null;
      const tookMs = clock.nowMs() - beganMs;
      if (tookMs > SLICE_SLOW_MS) size = Math.max(SLICE_MIN, size / 2);
      else if (tookMs < SLICE_FAST_MS) size = Math.min(SLICE_MAX, size * 2);
    }
  }

  /** The latest calls of the period that began before `before`. */
  #calls(
    { flow, callers, fromMs, toMs }: StatisticsRequest,
    before: CountedCall | null,
    limit: number,
  ): Promise<CountedCall[]> {
    let calls = this.#options.database.reader
      .selectFrom('calls')
      .select(['seq', 'started_ms', 'flow', 'flow_version', 'state'])
      .where('flow', 'in', [flow, ...callers])
      .where('started_ms', '>=', fromMs)
      .where('started_ms', '<', toMs);
    if (before !== null)
      calls = calls.where(({ eb, refTuple, tuple }) =>
        eb(refTuple('started_ms', 'seq'), '<', tuple(before.started_ms, before.seq)),
      );
    return calls.orderBy('started_ms', 'desc').orderBy('seq', 'desc').limit(limit).execute();
  }
}

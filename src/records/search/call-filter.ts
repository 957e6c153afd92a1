/** Which calls a list, a search or an export is about: the same for calls in memory and for stored ones. */
import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import type { CallView } from '../../calls/call-view.ts';
import type { Tables } from '../tables.ts';

/** A number or address of one side: all of it, its beginning (`+1415*`) or its end (`*5550100`). */
export interface PartyPattern {
  readonly where: 'whole' | 'beginning' | 'end';
  readonly text: string;
}

/** A step of a flow. */
export interface FlowStepName {
  readonly flow: string;
  readonly step: string;
}

/** What a call must be like; what is left out does not matter. Times are ms since 1970. */
export interface CallFilter {
  /** It began then or later. */
  readonly sinceMs?: number | undefined;
  /** It began before. */
  readonly untilMs?: number | undefined;
  readonly carrier?: string | undefined;
  /** Of caller or callee. */
  readonly party?: PartyPattern | undefined;
  /** Part of the name of one side, without case. */
  readonly name?: string | undefined;
  readonly agent?: string | undefined;
  readonly queue?: string | undefined;
  readonly app?: string | undefined;
  readonly flow?: string | undefined;
  /** It reached this step of this flow; only the records know. */
  readonly step?: FlowStepName | undefined;
  readonly outcome?: string | undefined;
  readonly endReason?: string | undefined;
  /** It lasted at least, and at most, so long by its sound. */
  readonly minDurationMs?: number | undefined;
  readonly maxDurationMs?: number | undefined;
  readonly hasGap?: boolean | undefined;
  readonly tag?: string | undefined;
  readonly state?: CallView['state'] | undefined;
  /** The only agent whose calls whoever asks may see. */
  readonly onlyAgent?: string | undefined;
}

/** Reads `+14155550100`, `+1415*` or `*0100`. */
export function readParty(typed: string): PartyPattern {
  if (typed.endsWith('*')) return { where: 'beginning', text: typed.slice(0, -1) };
  if (typed.startsWith('*')) return { where: 'end', text: typed.slice(1) };
  return { where: 'whole', text: typed };
}

/** Whether it asks for more than the time: then stored calls must be looked at. */
export function filtersCalls({ sinceMs: _since, untilMs: _until, ...rest }: CallFilter): boolean {
  return Object.values(rest).some((value) => value !== undefined);
}

/** Whether a call in memory passes, but for the steps that it reached. */
export function passes(call: CallView, filter: CallFilter): boolean {
  const startedMs = Date.parse(call.startedAt);
  return (
    startedMs >= (filter.sinceMs ?? -Infinity) &&
    startedMs < (filter.untilMs ?? Infinity) &&
    call.durationMs >= (filter.minDurationMs ?? -Infinity) &&
    call.durationMs <= (filter.maxDurationMs ?? Infinity) &&
    isWanted(call.carrier, filter.carrier) &&
    isWanted(call.agent, filter.agent) &&
    isWanted(call.agent, filter.onlyAgent) &&
    isWanted(call.queue, filter.queue) &&
    isWanted(call.app, filter.app) &&
    isWanted(call.flow, filter.flow) &&
    isWanted(call.outcome, filter.outcome) &&
    isWanted(call.endReason, filter.endReason) &&
    isWanted(call.state, filter.state) &&
    isWanted(call.counts.gaps > 0, filter.hasGap) &&
    (filter.tag === undefined || call.tags.includes(filter.tag)) &&
    hasParty(call, filter.party) &&
    hasName(call, filter.name)
  );
}

function isWanted<T>(value: T, wanted: T | undefined): boolean {
  return wanted === undefined || value === wanted;
}

function hasParty({ from, to }: CallView, pattern: PartyPattern | undefined): boolean {
  if (pattern === undefined) return true;
  const { where, text } = pattern;
  return [from, to].some((party) => {
    if (where === 'whole') return party === text;
    return where === 'beginning' ? party?.startsWith(text) === true : party?.endsWith(text) === true;
  });
}

function hasName({ names }: CallView, part: string | undefined): boolean {
  if (part === undefined) return true;
  const wanted = part.toLowerCase();
  return [names.inbound, names.outbound].some((name) => name?.toLowerCase().includes(wanted) === true);
}

/** Adds the conditions of `filter` to a query over stored calls. */
export function whereCall<T>(
  query: SelectQueryBuilder<Tables, 'calls', T>,
  filter: CallFilter,
): SelectQueryBuilder<Tables, 'calls', T> {
  return conditionsOf(filter).reduce((wanted, condition) => wanted.where(condition), query);
}

/** The conditions of `filter` for rows of `calls`. */
export function conditionsOf(filter: CallFilter): RawBuilder<boolean>[] {
  const { sinceMs, untilMs, minDurationMs, maxDurationMs, hasGap, tag, step, party, name } = filter;
  const equal = [
    ['carrier', filter.carrier],
    ['agent', filter.agent],
    ['agent', filter.onlyAgent],
    ['queue', filter.queue],
    ['app', filter.app],
    ['flow', filter.flow],
    ['outcome', filter.outcome],
    ['end_reason', filter.endReason],
    ['state', filter.state],
  ] as const;
  const wanted: RawBuilder<boolean>[] = equal.flatMap(([column, value]) =>
    value === undefined ? [] : [sql<boolean>`${sql.ref(column)} = ${value}`],
  );
  if (sinceMs !== undefined) wanted.push(sql`started_ms >= ${sinceMs}`);
  if (untilMs !== undefined) wanted.push(sql`started_ms < ${untilMs}`);
  if (minDurationMs !== undefined) wanted.push(sql`duration_ms >= ${minDurationMs}`);
  if (maxDurationMs !== undefined) wanted.push(sql`duration_ms <= ${maxDurationMs}`);
  if (hasGap !== undefined) wanted.push(hasGap ? sql`gaps > 0` : sql`gaps = 0`);
  if (tag !== undefined)
    wanted.push(sql`EXISTS (SELECT 1 FROM call_tags WHERE call_tags.call_seq = calls.seq AND call_tags.tag = ${tag})`);
  if (step !== undefined) wanted.push(stepCondition(step));
  if (party !== undefined) wanted.push(partyCondition(party));
  if (name !== undefined) wanted.push(nameCondition(name));
  return wanted.length === 0 ? [sql`1 = 1`] : wanted;
}

/** Characters are counted as the databases do, by code points. */
function partyCondition({ where, text }: PartyPattern) {
  if (where === 'whole') return sql<boolean>`(from_party = ${text} OR to_party = ${text})`;
  const length = [...text].length;
  const [fromPart, toPart] = ['from_party', 'to_party'].map((column) => {
    const found = sql.ref(column);
    if (where === 'beginning') return sql`substr(${found}, 1, ${length}) = ${text}`;
    // Past the beginning, `substr` counts differently in the two databases.
    return sql`(length(${found}) >= ${length}
      AND substr(${found}, length(${found}) - ${length} + 1) = ${text})`;
  });
  return sql<boolean>`(${fromPart} OR ${toPart})`;
}

/** In the words of the index of 0003-flows.ts. Events are stored as they were told, with their fields in this order. */
function stepCondition({ flow, step }: FlowStepName) {
  const part = `"flow":${JSON.stringify(flow)},"step":${JSON.stringify(step)},`;
  return sql<boolean>`EXISTS (SELECT 1 FROM events WHERE events.call_seq = calls.seq
    AND type IN ('flow.started', 'flow.step', 'flow.input', 'flow.ended') AND type = 'flow.step'
    AND content <> replace(content, ${part}, ''))`;
}

function nameCondition(part: string) {
  const pattern = `%${part.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`;
  return sql<boolean>`(lower(inbound_name) LIKE ${pattern} ESCAPE '\\'
    OR lower(outbound_name) LIKE ${pattern} ESCAPE '\\')`;
}

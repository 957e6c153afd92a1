/** Reads what the feed told of flows, of many calls, in short statements. */
import { type RawBuilder, sql } from 'kysely';
import type { RecordsDatabase } from '../records-database.ts';
import type { FlowEvent } from './flow-path.ts';

/** Events that one statement reads. */
const EVENTS_PER_READ = 100;

/** An event, and the number of its call. */
export interface CallFlowEvent {
  readonly call: number;
  readonly event: FlowEvent;
}

/** In the words of the index of src/records/migrations/0003-flows.ts, so that it is used. */
const IS_OF_FLOW = sql<boolean>`type IN ('flow.started', 'flow.step', 'flow.input', 'flow.ended')`;

/** The events of these calls, call by call, each in the order of its feed; `calls` are numbers in ascending order. */
export async function* readFlowEvents(
  reader: RecordsDatabase['reader'],
  calls: readonly number[],
): AsyncGenerator<readonly CallFlowEvent[], void, undefined> {
  let rest = calls;
  let after: { readonly call: number; readonly position: number } | null = null;
  while (rest.length > 0) {
    const rows: EventRow[] = await reader
      .selectFrom('events')
      .select(['call_seq', 'position', 'content'])
      .where(IS_OF_FLOW)
      .where('call_seq', 'in', rest)
      .where(after === null ? sql<boolean>`1 = 1` : behind(after))
      .orderBy('call_seq')
      .orderBy('position')
      .limit(EVENTS_PER_READ)
      .execute();
    yield rows.map(({ call_seq, content }) => ({ call: call_seq, event: JSON.parse(content) as FlowEvent }));
    const last = rows.at(-1);
    if (last === undefined || rows.length < EVENTS_PER_READ) return;
    after = { call: last.call_seq, position: last.position };
    rest = rest.filter((call) => call >= last.call_seq);
  }
}

interface EventRow {
  readonly call_seq: number;
  readonly position: number;
  readonly content: string;
}

function behind({ call, position }: { readonly call: number; readonly position: number }): RawBuilder<boolean> {
  return sql<boolean>`(call_seq > ${call} OR position > ${position})`;
}

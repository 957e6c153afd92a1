/** Which stored calls are to be deleted. */
import type { Kysely } from 'kysely';
import type { RemovedCall } from '../deletion/call-removal.ts';
import type { Tables } from '../tables.ts';

/** `endedBeforeMs` = calls without a time of their own are due that ended before; null = those are never due. */
interface Due {
  readonly nowMs: number;
  readonly endedBeforeMs: number | null;
}

/**
 * Calls past their time; only ones that are over. Those with a time of their own leave copies of the database too: that
 * time is shorter than the copies have.
 */
export async function findDueCalls(reader: Kysely<Tables>, due: Due, limit: number): Promise<RemovedCall[]> {
  const { nowMs, endedBeforeMs } = due;
  const ended = reader.selectFrom('calls').select(COLUMNS).where('state', '=', 'ended').limit(limit);
  const chosen = await ended.where('keep_until_ms', '<=', nowMs).orderBy('keep_until_ms').execute();
  if (chosen.length > 0 || endedBeforeMs === null) return chosen.map((row) => ({ ...toCall(row), leavesCopies: true }));
  const old = ended.where('keep_until_ms', 'is', null).where('ended_ms', '<', endedBeforeMs);
  return (await old.orderBy('ended_ms').execute()).map(toCall);
}

/** How many calls {@link findDueCalls} would find. */
export async function countDueCalls(reader: Kysely<Tables>, { nowMs, endedBeforeMs }: Due): Promise<number> {
  const ended = reader
    .selectFrom('calls')
    .select(({ fn }) => fn.countAll<number>().as('calls'))
    .where('state', '=', 'ended');
  const chosen = await ended.where('keep_until_ms', '<=', nowMs).executeTakeFirst();
  if (endedBeforeMs === null) return Number(chosen?.calls ?? 0);
  const old = ended.where('keep_until_ms', 'is', null).where('ended_ms', '<', endedBeforeMs);
  return Number(chosen?.calls ?? 0) + Number((await old.executeTakeFirst())?.calls ?? 0);
}

/** The calls that began first, of those that are over. */
export async function findOldestCalls(reader: Kysely<Tables>, limit: number): Promise<RemovedCall[]> {
  const ended = reader.selectFrom('calls').select(COLUMNS).where('state', '=', 'ended').limit(limit);
  return (await ended.orderBy('started_ms').orderBy('seq').execute()).map(toCall);
}

/** About how many calls are stored: they are numbered without gaps, and go from the oldest on. */
export async function countCalls(reader: Kysely<Tables>): Promise<number> {
  const calls = reader.selectFrom('calls').select('seq').limit(1);
  const [first, last] = await Promise.all([
    calls.orderBy('seq').executeTakeFirst(),
    calls.orderBy('seq', 'desc').executeTakeFirst(),
  ]);
  return first === undefined || last === undefined ? 0 : last.seq - first.seq + 1;
}

const COLUMNS = ['id', 'seq', 'started_ms'] as const;

function toCall({ id, seq, started_ms }: { id: string; seq: number; started_ms: number }): RemovedCall {
  return { id, seq, startedMs: started_ms };
}

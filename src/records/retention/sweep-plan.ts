/** What a sweep would delete, counted before anything is deleted. */
import { type Kysely, sql } from 'kysely';
import type { Tables } from '../tables.ts';
import { countCalls, countDueCalls } from './due-calls.ts';

const DAY_MS = 86_400_000;

/** Settings of the time that records are kept. */
export interface KeptDays {
  /** 0 = for ever, as below. */
  readonly RETENTION_DAYS: number;
  readonly AUDIT_RETENTION_DAYS: number;
}

/** How many of what is kept are past their time. */
export interface Share {
  readonly due: number;
  readonly kept: number;
}

/** What a sweep would delete for its age. */
export interface SweepPlan {
  readonly nowMs: number;
  readonly calls: Share;
  /** Lines of the audit log. */
  readonly lines: Share;
}

/** Calls that ended before are due, ms since 1970; null = none are. */
export function endedBefore(nowMs: number, days: number): number | null {
  return days === 0 ? null : nowMs - days * DAY_MS;
}

/** Counts what is due at `nowMs`, in SQLite along indexes alone. @throws the error of the database */
export async function planSweep(
  reader: Kysely<Tables>,
  nowMs: number,
  { RETENTION_DAYS, AUDIT_RETENTION_DAYS }: KeptDays,
): Promise<SweepPlan> {
  const endedBeforeMs = endedBefore(nowMs, RETENTION_DAYS);
  const calls = await countDueCalls(reader, { nowMs, endedBeforeMs });
  const lines = await dueLines(reader, endedBefore(nowMs, AUDIT_RETENTION_DAYS));
  return {
    nowMs,
    calls: { due: calls, kept: Math.max(calls, await countCalls(reader)) },
    lines: { due: lines, kept: Math.max(lines, await countLines(reader)) },
  };
}

async function dueLines(reader: Kysely<Tables>, beforeMs: number | null): Promise<number> {
  if (beforeMs === null) return 0;
  const old = reader.selectFrom('audit').where('at_ms', '<', beforeMs);
  const found = await old.select(({ fn }) => fn.countAll<number>().as('lines')).executeTakeFirst();
  return Number(found?.lines ?? 0);
}

/** About how many: they are numbered without gaps, and go from the oldest on. */
async function countLines(reader: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ lines: number | null }>`SELECT
    (SELECT max(position) FROM audit) - (SELECT min(position) FROM audit) + 1 AS lines`.execute(reader);
  return rows[0]?.lines ?? 0;
}

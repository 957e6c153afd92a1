/** Whether a sweep may delete: not when the clock may be wrong, and not when it would delete much at once. */
import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';
import type { RetentionClock, StoredTimes } from './retention-clock.ts';
import { type KeptDays, planSweep, type Share, type SweepPlan } from './sweep-plan.ts';

/** A clock that is this far from what is stored is not believed. */
export const CLOCK_JUMP_MS = 86_400_000;
/** So few may always go: of a small store they are soon a large share. */
const FEW_CALLS = 20;
const FEW_LINES = 1000;
const FEW_BYTES = 100_000_000;

/** Why nothing is deleted. */
export type HoldReason = 'clock_ahead' | 'clock_behind' | 'too_much';

/** Nothing is deleted until somebody says so; `message` says why, and what to do. */
export interface Hold {
  readonly reason: HoldReason;
  readonly message: string;
}

/** What is done about any of them. */
const REMEDY = '"trunkline db sweep" shows what is due, and "trunkline db sweep --yes" goes on';

/** What would be deleted now, and what a server that starts now would say to it. @throws the error of the database */
export async function reviewSweep(
  time: RetentionClock,
  reader: Kysely<Tables>,
  settings: KeptDays & { readonly SWEEP_MAX_PERCENT: number },
): Promise<{ readonly plan: SweepPlan; readonly hold: Hold | null }> {
  const nowMs = await time.readNowMs();
  const plan = await planSweep(reader, nowMs, settings);
  const hold = doubtClock(nowMs, await time.readStored()) ?? doubtAmount(plan, settings.SWEEP_MAX_PERCENT);
  return { plan, hold };
}

/** The clock against what is stored; null = it may be right. */
export function doubtClock(nowMs: number, { seenMs, aheadMs, latestCallMs }: StoredTimes): Hold | null {
  const now = timeOf(nowMs);
  // Nothing that could be lost has a time yet.
  if (latestCallMs === null) return null;
  if (seenMs !== null && nowMs - seenMs > CLOCK_JUMP_MS)
    return {
      reason: 'clock_ahead',
      message:
        `nothing is deleted: the clock says ${now}, which is ${daysOf(nowMs - seenMs)} after the last time that the ` +
        `records know of (${timeOf(seenMs)}). Set the clock if it is wrong. If it is right, for the server was off: ` +
        REMEDY,
    };
  const latestMs = Math.max(seenMs ?? 0, latestCallMs);
  if (latestMs - nowMs > CLOCK_JUMP_MS && latestMs > (aheadMs ?? 0))
    return {
      reason: 'clock_behind',
      message:
        `nothing is deleted: the clock says ${now}, and the records have times of ${timeOf(latestMs)}, ` +
        `${daysOf(latestMs - nowMs)} later. Set the clock if it is wrong. If it is right: ${REMEDY}`,
    };
  return null;
}

/** What is due against what is kept; null = it is not too much. */
export function doubtAmount({ calls, lines }: SweepPlan, maxPercent: number): Hold | null {
  if (isTooMuch(calls, FEW_CALLS, maxPercent)) return tooMuch(`${calls.due} of ${calls.kept} calls`, maxPercent);
  if (isTooMuch(lines, FEW_LINES, maxPercent))
    return tooMuch(`${lines.due} of ${lines.kept} lines of the audit log`, maxPercent);
  return null;
}

/** What takes room, in bytes; null = it is not too much. */
export function doubtRoom(bytes: Share, maxPercent: number): Hold | null {
  if (!isTooMuch(bytes, FEW_BYTES, maxPercent)) return null;
  const percent = Math.round((bytes.due / bytes.kept) * 100);
  return tooMuch(`${percent} % of all records and sound, because of DATA_MAX_BYTES,`, maxPercent);
}

function isTooMuch({ due, kept }: Share, few: number, maxPercent: number): boolean {
  return due > few && due * 100 > kept * maxPercent;
}

function tooMuch(what: string, maxPercent: number): Hold {
  return {
    reason: 'too_much',
    message:
      `nothing is deleted: ${what} would go at once, more than ${maxPercent} %. A shorter time ` +
      `or less room that was set on purpose does that, and so does a mistake. ${REMEDY}`,
  };
}

/** A row that somebody else wrote may have any number. */
function timeOf(ms: number): string {
  const time = new Date(ms);
  return Number.isNaN(time.getTime()) ? `${ms} ms after 1970` : time.toISOString();
}

function daysOf(ms: number): string {
  return `${(ms / CLOCK_JUMP_MS).toFixed(1)} days`;
}

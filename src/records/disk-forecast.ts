/** Whether the disk of DATA_DIR will be full soon, by what the calls of the last days took. */
import { freeBytes } from '../foundation/folders/folder-size.ts';
import type { RecordsDatabase } from './records-database.ts';

const DAY_MS = 86_400_000;
/** The days that count. */
const WINDOW_DAYS = 7;
/** So many days before the disk is full it is told. */
const SOON_DAYS = 7;
/** Less than this is told whatever comes. */
const LOW_BYTES = 500_000_000;

/** What is known of a disk, and of what comes to it. */
export interface DiskFacts {
  readonly folder: string;
  readonly freeBytes: number;
  /** Records and sound there. */
  readonly usedBytes: number;
  /** What the calls of one day take. */
  readonly dailyBytes: number;
  /** Since the oldest call; 0 = there is none. */
  readonly keptDays: number;
}

/** Settings that bound what comes; 0 = they do not. */
export interface DiskBounds {
  readonly RETENTION_DAYS: number;
  readonly DATA_MAX_BYTES: number;
}

/** What operators should know of the disk; null = nothing. */
export function judgeDisk(facts: DiskFacts, { RETENTION_DAYS, DATA_MAX_BYTES }: DiskBounds): string | null {
  const { folder, freeBytes: free, usedBytes, dailyBytes, keptDays } = facts;
  const room = `${megabytes(free)} are free on the disk of ${folder}`;
  const remedy = 'make room there, or lower RETENTION_DAYS or DATA_MAX_BYTES';
  if (free < LOW_BYTES) return `${room}: ${remedy}`;
  const untilOldGo = RETENTION_DAYS === 0 ? Infinity : Math.max(RETENTION_DAYS - keptDays, 0) * dailyBytes;
  const untilBound = DATA_MAX_BYTES === 0 ? Infinity : Math.max(DATA_MAX_BYTES - usedBytes, 0);
  if (dailyBytes === 0 || Math.min(untilOldGo, untilBound) < free) return null;
  const days = free / dailyBytes;
  if (days > SOON_DAYS) return null;
  return `${room}, and calls take ${megabytes(dailyBytes)} a day: it is full in ${days.toFixed(1)} days; ${remedy}`;
}

/**
 * Reads what {@link judgeDisk} needs of the disk of `folder`, by the calls of the last week before `nowMs`. Null = the
 * disk cannot be asked. @throws the error of the database
 */
export async function readDiskFacts(
  database: Pick<RecordsDatabase, 'kind' | 'reader' | 'sizeBytes'>,
  folder: string,
  { nowMs, soundBytes }: { readonly nowMs: number; readonly soundBytes: number },
): Promise<DiskFacts | null> {
  const free = await freeBytes(folder);
  if (free === null) return null;
  const calls = database.reader.selectFrom('calls');
  const ends = await calls
    .select(({ fn }) => [fn.min('seq').as('first'), fn.max('seq').as('last'), fn.min('started_ms').as('oldest_ms')])
    .executeTakeFirst();
  const recent = await calls
    .select(({ fn }) => [fn.countAll<number>().as('calls'), fn.sum<number | null>('sound_bytes').as('bytes')])
    .where('started_ms', '>=', nowMs - WINDOW_DAYS * DAY_MS)
    .executeTakeFirst();
  const oldestMs = ends?.oldest_ms ?? nowMs;
  const count = (ends?.last ?? 0) - (ends?.first ?? 0) + 1;
  // What a database of its own holds is not on this disk.
  const rowBytes = database.kind === 'sqlite' ? await database.sizeBytes() : 0;
  const keptDays = (nowMs - oldestMs) / DAY_MS;
  const days = Math.min(Math.max(keptDays, 1), WINDOW_DAYS);
  const recentBytes = Number(recent?.bytes ?? 0) + (rowBytes / count) * Number(recent?.calls ?? 0);
  return { folder, freeBytes: free, usedBytes: rowBytes + soundBytes, dailyBytes: recentBytes / days, keptDays };
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1_000_000)} MB`;
}

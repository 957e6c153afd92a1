/** Recognises errors of a disk that is full, over quota or failing. The same operation may succeed later. */
import { constants } from 'node:os';
import { TrunklineError } from '../errors.ts';

/** By number: Node has no name for EDQUOT. errno(3) */
const NAMES = new Map(
  Object.entries(constants.errno)
    .filter(([name]) => ['ENOSPC', 'EDQUOT', 'EIO'].includes(name))
    .map(([name, number]) => [number, name]),
);

/** Where a disk error came from. */
export interface DiskPlace {
  /** The folder. */
  readonly path: string;
  /** What its disk had left then; null = it could not be told. */
  readonly freeBytes: number | null;
}

/** A disk error that SQLite or another program reported. `message` is its text, without a path. */
export class DiskError extends Error {
  /** For operators; null = it is not known. */
  readonly place: DiskPlace | null;

  constructor(message: string, place: DiskPlace | null = null) {
    super(message);
    this.place = place;
  }
}

/** Below this a disk is as good as full: SQLite writes its log before it moves what is in it. */
const FULL_BYTES = 16_000_000;

/** What operators read of a disk error: where it is, what is left there, and what to do; else its message. */
export function describeDisk(error: Error): string {
  const place = error instanceof DiskError ? error.place : null;
  if (place === null) return error.message;
  const { path, freeBytes } = place;
  if (freeBytes === null) return `${error.message}, in ${path}: is its disk there, and does it answer?`;
  const room = freeBytes < FULL_BYTES;
  const remedy = room ? 'make room there' : 'a quota or the disk itself may be the cause; the system log may say more';
  return `${error.message}, in ${path}, whose disk has ${freeBytes} bytes free: ${remedy}`;
}

/**
 * Whether `error` comes from the disk and may be temporary: the disk, the quota or the space allowed for recordings is
 * used up, or a read or write failed.
 */
export function isDiskTrouble(error: unknown): error is Error {
  return error instanceof DiskError || isBudgetSpent(error) || nameOf(error) !== undefined;
}

/** The disk error as clients and operators see it, without a path. */
export function toDiskFull(error: unknown): TrunklineError {
  const why = error instanceof DiskError || isBudgetSpent(error) ? error.message : (nameOf(error) ?? 'unknown');
  return new TrunklineError('disk_full', `the disk is full or fails (${why})`);
}

function isBudgetSpent(error: unknown): error is TrunklineError {
  return error instanceof TrunklineError && error.code === 'upload_disk_full';
}

function nameOf(error: unknown): string | undefined {
  const { errno } = (error ?? {}) as Partial<NodeJS.ErrnoException>;
  return typeof errno === 'number' ? NAMES.get(Math.abs(errno)) : undefined;
}

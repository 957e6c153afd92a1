/** Recognises errors of a disk that is full, over quota or failing. The same operation may succeed later. */
import { constants } from 'node:os';
import { TrunklineError } from '../errors.ts';

/** By number: Node has no name for EDQUOT. errno(3) */
const NAMES = new Map(
  Object.entries(constants.errno)
    .filter(([name]) => ['ENOSPC', 'EDQUOT', 'EIO'].includes(name))
    .map(([name, number]) => [number, name]),
);

/** A disk error that SQLite or another program reported. `message` is its text, without a path. */
export class DiskError extends Error {}

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

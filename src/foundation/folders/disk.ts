/** What a disk says that is full, over quota or failing for a moment: the same may well succeed in a while. */
import { constants } from 'node:os';
import { TrunklineError } from '../errors.ts';

/** By number: Node has no name for EDQUOT. errno(3) */
const NAMES = new Map(
  Object.entries(constants.errno)
    .filter(([name]) => ['ENOSPC', 'EDQUOT', 'EIO'].includes(name))
    .map(([name, number]) => [number, name]),
);

/** The disk refused a database or another program, and `message` is what that says of it, without a path. */
export class DiskError extends Error {}

/**
 * Whether `error` is the disk's doing and may be over in a while: no room on it or in what recordings may take of it,
 * no quota, a failed read or write.
 */
export function isDiskTrouble(error: unknown): error is Error {
  return error instanceof DiskError || isBudgetSpent(error) || nameOf(error) !== undefined;
}

/** Trouble with the disk as clients and operators hear of it: what it is, and no path. */
export function toDiskFull(error: unknown): TrunklineError {
  const why = error instanceof DiskError || isBudgetSpent(error) ? error.message : (nameOf(error) ?? 'unknown');
  return new TrunklineError('disk_full', `the disk has no room or fails (${why})`);
}

function isBudgetSpent(error: unknown): error is TrunklineError {
  return error instanceof TrunklineError && error.code === 'upload_disk_full';
}

function nameOf(error: unknown): string | undefined {
  const { errno } = (error ?? {}) as Partial<NodeJS.ErrnoException>;
  return typeof errno === 'number' ? NAMES.get(Math.abs(errno)) : undefined;
}

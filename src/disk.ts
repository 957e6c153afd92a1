/** What a disk says that is full, over quota or failing for a moment: the same may well succeed in a while. */
import { constants } from 'node:os';
import { TrunklineError } from './errors.ts';

/** By number: Node has no name for EDQUOT. errno(3) */
const NAMES = new Map(
  Object.entries(constants.errno)
    .filter(([name]) => ['ENOSPC', 'EDQUOT', 'EIO'].includes(name))
    .map(([name, number]) => [number, name]),
);

/** The disk under a database refused; `message` is the database's. */
export class DiskError extends Error {}

/** Whether `error` is the disk's doing and may be over in a while: no room, no quota, a failed read or write. */
export function isDiskTrouble(error: unknown): error is Error {
  if (error instanceof TrunklineError) return error.code === 'disk_full';
  return error instanceof DiskError || nameOf(error) !== undefined;
}

/** What clients and operators hear of trouble with the disk: which it is, and no path. */
export function toDiskFull(error: unknown): TrunklineError {
  if (error instanceof TrunklineError) return error;
  const why = error instanceof DiskError ? error.message : (nameOf(error) ?? 'unknown');
  return new TrunklineError('disk_full', `the server's disk has no room or fails (${why}); try again later`);
}

function nameOf(error: unknown): string | undefined {
  const { errno } = (error ?? {}) as Partial<NodeJS.ErrnoException>;
  return typeof errno === 'number' ? NAMES.get(Math.abs(errno)) : undefined;
}

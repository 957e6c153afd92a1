/** Tells a database that is away, full or stuck for now from one that refuses what it is asked. */
import { DiskError, describeDisk, isDiskTrouble } from '../folders/disk.ts';

/** A database that is away or does not answer. `message` is for people: it has no address, no SQL and no values. */
export class DatabaseAway extends Error {}

/**
 * Classes of SQLSTATE after which the same transaction may succeed later: the connection broke, a deadlock, out of
 * memory or disk, an operator's shutdown, a failing system, and a standby that takes no writes.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const PASSING = /^(?:08|40|53|57|58|25006)/;

/** The client's own errors have no code. */
const GONE = /terminat|timeout|timed out|not queryable|closed|ended/i;

/** Whether `error` may be gone when the same is tried again: a disk that is full or fails, a server that is away. */
export function isDatabaseTrouble(error: unknown): error is Error {
  if (isDiskTrouble(error) || error instanceof DatabaseAway) return true;
  if (!(error instanceof Error)) return false;
  const { code, syscall } = error as NodeJS.ErrnoException;
  // Errors of sockets name the call; an AggregateError is that of several addresses.
  if (syscall !== undefined || error instanceof AggregateError) return true;
  return typeof code === 'string' ? PASSING.test(code) : GONE.test(error.message);
}

/** What a log says of it: no address, no SQL, no values. */
export function describeTrouble(error: Error): string {
  if (error instanceof DiskError || error instanceof DatabaseAway) return error.message;
  const { code } = error as NodeJS.ErrnoException;
  return code ?? error.message;
}

/** The same for the log of an operator: of a disk it says where it is, what is left there, and what to do. */
export function explainTrouble(error: Error): string {
  return error instanceof DiskError ? describeDisk(error) : describeTrouble(error);
}

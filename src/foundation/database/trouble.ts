/** Tells a database that is away, full, closed to us or another one from one that refuses what a statement holds. */
import { DiskError, describeDisk, isDiskTrouble } from '../folders/disk.ts';

/**
 * Why a database cannot be used: it does not answer or fails, it refuses the login, a right is missing, it is not the
 * one that it was, its tables are missing, or it has no connection left.
 */
export type AwayReason = 'unreachable' | 'login' | 'right' | 'other_database' | 'tables' | 'connections';

/** A database that cannot be used just now. `message` is for people: it has no address, no SQL and no values. */
export class DatabaseAway extends Error {
  readonly reason: AwayReason;
  /** What it answered; null = nothing. */
  readonly sqlState: string | null;

  constructor(message: string, reason: AwayReason = 'unreachable', sqlState: string | null = null) {
    super(message);
    this.reason = reason;
    this.sqlState = sqlState;
  }
}

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const SQLSTATE = /^(?:\d[0-9A-Z]|F0|HV|P0|XX)[0-9A-Z]{3}$/;

/** Wrong data, a broken constraint, a limit of a row: no other time or login makes the same statement succeed. */
const OF_VALUES = /^(?:21|22|23|54)/;

/**
 * The connection, a transaction's state, the login, the database's name, a deadlock, resources, a lock, a shutdown and
 * the system: whatever is asked is refused.
 */
const OF_SERVER = /^(?:08|25|28|3D|40|53|55|57|58)/;

const REASONS: readonly (readonly [RegExp, AwayReason, string])[] = [
  [/^28/, 'login', 'it refuses the login'],
  [/^42501$/, 'right', 'a right is missing'],
  [/^3D/, 'other_database', 'there is no database of that name'],
  [/^(?:3F|42)/, 'tables', 'its tables are missing or others'],
  [/^53300$/, 'connections', 'it has no connection left'],
  [/^53100$/, 'unreachable', 'its disk is full'],
];

/** The client's own errors have no code. */
const GONE = /terminat|timeout|timed out|not queryable|closed|ended/i;

/**
 * Whether `error` may be gone when the same is tried again: a disk that is full or fails, a server that is away, or one
 * whose operator has to mend something.
 */
export function isDatabaseTrouble(error: unknown): error is Error {
  if (isDiskTrouble(error) || error instanceof DatabaseAway) return true;
  if (!(error instanceof Error)) return false;
  const { code, syscall } = error as NodeJS.ErrnoException;
  // Errors of sockets name the call; an AggregateError is that of several addresses.
  if (syscall !== undefined || error instanceof AggregateError) return true;
  return typeof code === 'string' ? SQLSTATE.test(code) && !OF_VALUES.test(code) : GONE.test(error.message);
}

/** Whether a database may refuse one statement so for what is in it, and take others. */
export function mayBeOfOneStatement(error: unknown): boolean {
  const sqlState = stateOf(error);
  return sqlState === null ? !isDatabaseTrouble(error) : !OF_SERVER.test(sqlState);
}

/** Why it cannot be used, where `error` says so. */
export function reasonOf(error: unknown): AwayReason {
  if (error instanceof DatabaseAway) return error.reason;
  return foundFor(stateOf(error))?.[1] ?? 'unreachable';
}

/** What a log says of it: no address, no SQL, no values. */
export function describeTrouble(error: Error): string {
  if (error instanceof DiskError || error instanceof DatabaseAway) return error.message;
  const { code } = error as NodeJS.ErrnoException;
  const words = foundFor(stateOf(error))?.[2];
  if (code === undefined) return error.message;
  return words === undefined ? code : `${words}: ${code}`;
}

/** The SQLSTATE of a server's answer; null = it is none. */
export function stateOf(error: unknown): string | null {
  if (error instanceof DatabaseAway) return error.sqlState;
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' && SQLSTATE.test(code) ? code : null;
}

function foundFor(sqlState: string | null): (typeof REASONS)[number] | undefined {
  return sqlState === null ? undefined : REASONS.find(([states]) => states.test(sqlState));
}

/** The same for the log of an operator: of a disk it says where it is, what is left there, and what to do. */
export function explainTrouble(error: Error): string {
  return error instanceof DiskError ? describeDisk(error) : describeTrouble(error);
}

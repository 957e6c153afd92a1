/** Decides whether a new call is admitted: new calls are refused before running calls suffer. */
import { FIRM_LOAD_MAX } from '../../foundation/engine-room.ts';
import { TrunklineError } from '../../foundation/errors.ts';

/**
 * No call is added while the captions of so many calls, and of this share of them, come late: what takes the engines'
 * time away may be no work of ours. One that is late alone has its own reasons.
 */
const LATE_MIN = 2;
const LATE_SHARE = 0.2;

/** The load of the server when a new call begins. */
export interface Occupancy {
  readonly liveCount: number;
  /** MAX_CALLS. */
  readonly maxCalls: number;
  /** Share of engine time taken by live work that is never dropped (all but partials), 0–1. */
  readonly firmLoad: number;
  /** Calls whose captions come late now. */
  readonly lateCount: number;
  readonly draining: boolean;
  /** Too many events wait for a database that is away. Left out = that does not matter. */
  readonly feedIsFull?: boolean;
}

/**
 * Returns if a new call is admitted.
 * @throws TrunklineError `draining` when the server is shutting down, `too_many_calls` when it is full or its engines
 * are overloaded or captions come late, or when soon the events of its calls could not be kept
 */
export function admitCall(occupancy: Occupancy): void {
  const { liveCount, maxCalls, firmLoad, lateCount, draining, feedIsFull = false } = occupancy;
  if (draining) throw new TrunklineError('draining', 'the server is shutting down and takes no new calls');
  if (liveCount >= maxCalls) {
    throw new TrunklineError(
      'too_many_calls',
      `${liveCount} calls are live and at most ${maxCalls} are allowed (MAX_CALLS)`,
    );
  }
  if (feedIsFull)
    throw new TrunklineError('too_many_calls', 'too many events of calls wait for the database, which is away');
  if (lateCount >= LATE_MIN && lateCount >= LATE_SHARE * liveCount)
    throw new TrunklineError(
      'too_many_calls',
      `the captions of ${lateCount} of ${liveCount} calls come late, so no call can be added`,
    );
  // An idle server that was busy a moment ago has nobody to protect.
  if (liveCount > 0 && firmLoad >= FIRM_LOAD_MAX) {
    const percent = Math.floor(firmLoad * 100);
    throw new TrunklineError(
      'too_many_calls',
      `voice detection and final captions take ${percent} % of the engines' time, so no call can be added`,
    );
  }
}

/** Whether a new call may come in: new ones are refused before old ones suffer. */
import { TrunklineError } from '../../foundation/errors.ts';

/**
 * Share of engine time taken by work that is never dropped from which no call is added. Partial captions have been
 * thinned out by then to make room, and the next thing to suffer would be finals.
 */
const FIRM_LOAD_MAX = 0.85;

/** The gateway as a new call meets it. */
export interface Occupancy {
  readonly liveCount: number;
  /** MAX_CALLS. */
  readonly maxCalls: number;
  /** Share of engine time taken by live work that is never dropped (all but partials), 0–1. */
  readonly firmLoad: number;
  readonly draining: boolean;
}

/**
 * Lets a new call in by returning.
 * @throws TrunklineError `draining` when the gateway is shutting down, `too_many_calls` when it is full or its engines
 * are overloaded
 */
export function admitCall(occupancy: Occupancy): void {
  const { liveCount, maxCalls, firmLoad, draining } = occupancy;
  if (draining) throw new TrunklineError('draining', 'the server is shutting down and takes no new calls');
  if (liveCount >= maxCalls) {
    throw new TrunklineError(
      'too_many_calls',
      `${liveCount} calls are live and at most ${maxCalls} are allowed (MAX_CALLS)`,
    );
  }
  // An idle gateway that was busy a moment ago has nobody to protect.
  if (liveCount > 0 && firmLoad >= FIRM_LOAD_MAX) {
    const percent = Math.floor(firmLoad * 100);
    throw new TrunklineError(
      'too_many_calls',
      `voice detection and final captions take ${percent} % of the engines' time, so no call can be added`,
    );
  }
}

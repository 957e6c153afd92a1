/** Whether a new call may come in: new ones are refused before old ones suffer. */
import { TrunklineError } from '../errors.ts';

/**
 * Live load, averaged over the last seconds, from which no call is added. Partial captions have been stretched as far as they go by then,
 * and the next thing to suffer would be finals.
 */
const LOAD_MAX = 0.95;

/** The gateway as a new call meets it. */
export interface Occupancy {
  readonly liveCount: number;
  /** MAX_CALLS. */
  readonly maxCalls: number;
  /** Share of engine time taken by live work, 0–1. */
  readonly load: number;
  readonly draining: boolean;
}

/**
 * Lets a new call in by returning.
 * @throws TrunklineError `draining` when the gateway is shutting down, `too_many_calls` when it is full or its engines are overloaded
 */
export function admitCall(occupancy: Occupancy): void {
  const { liveCount, maxCalls, load, draining } = occupancy;
  if (draining) throw new TrunklineError('draining', 'the gateway is shutting down and takes no new calls');
  if (liveCount >= maxCalls) {
    throw new TrunklineError('too_many_calls', `${liveCount} calls are live and at most ${maxCalls} are allowed (MAX_CALLS)`);
  }
  // An idle gateway that was busy a moment ago has nobody to protect.
  if (liveCount > 0 && load >= LOAD_MAX) {
    const percent = Math.floor(load * 100);
    throw new TrunklineError('too_many_calls', `live calls take ${percent} % of the engines' time, so no call can be added`);
  }
}

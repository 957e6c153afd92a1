/** What one address may have and send, by how many calls there may be at all. */
import { type Rate, rateOf } from '../../foundation/token-buckets.ts';

/** Where few calls fit these hold all the same: phones of an office come at once after a power cut. */
const DIALOGS_MIN = 64;
const UNACKNOWLEDGED_MIN = 32;
const PER_SECOND_MIN = 20;
const BURST_MIN = 100;
/** Half of what is read of all together, so that others get through beside one. */
const PER_SECOND_MAX = 200;
const BURST_MAX = 400;
/** All places are taken in so many seconds; most calls are acknowledged long before. */
const FILLING_S = 4;

/** The limits of one address. */
export interface SourceLimit {
  /** Calls at once. */
  readonly dialogs: number;
  /** Calls whose answer waits for its ACK. Each answer is repeated ten times. */
  readonly unacknowledged: number;
  /** Messages that belong to no call. */
  readonly rate: Rate;
}

interface Room {
  /** Most calls at once now. */
  readonly callsMax: number;
  /** SIP_DIALOGS_MAX; 0 = as many as there may be at all. */
  readonly dialogsMax: number;
  /** Answers that may wait for their ACK because of the ports. */
  readonly portsMax: number;
}

/** `isTrunk` = it is the address of a registrar or trunk of ours, which sends the calls of all its customers. */
export function limitOf(isTrunk: boolean, { callsMax, dialogsMax, portsMax }: Room): SourceLimit {
  if (isTrunk) {
    const rate = rateOf({ perSecond: PER_SECOND_MAX, burst: BURST_MAX });
    return { dialogs: Number.POSITIVE_INFINITY, unacknowledged: portsMax, rate };
  }
  const filling = Math.ceil(callsMax / FILLING_S);
  return {
    dialogs: dialogsMax === 0 ? Math.max(DIALOGS_MIN, callsMax) : dialogsMax,
    unacknowledged: Math.min(Math.max(UNACKNOWLEDGED_MIN, filling), portsMax),
    rate: rateOf({
      perSecond: Math.min(Math.max(PER_SECOND_MIN, filling), PER_SECOND_MAX),
      burst: Math.min(Math.max(BURST_MIN, callsMax), BURST_MAX),
    }),
  };
}

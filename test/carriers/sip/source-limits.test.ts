/** What one address may have and send. */
import { describe, expect, it } from 'vitest';
import { limitOf } from '../../../src/carriers/sip/source-limits.ts';
import { rateOf } from '../../../src/foundation/token-buckets.ts';

const ROOM = { dialogsMax: 0, portsMax: 2500 };

describe('what one address may have', () => {
  it.each([
    [20, { dialogs: 64, unacknowledged: 32, rate: rateOf({ perSecond: 20, burst: 100 }) }],
    [200, { dialogs: 200, unacknowledged: 50, rate: rateOf({ perSecond: 50, burst: 200 }) }],
    [2000, { dialogs: 2000, unacknowledged: 500, rate: rateOf({ perSecond: 200, burst: 400 }) }],
  ])('follows the number of calls that there may be (%d)', (callsMax, expected) => {
    expect(limitOf(false, { ...ROOM, callsMax })).toEqual(expected);
  });

  it('is what SIP_DIALOGS_MAX says, and never more than the ports allow', () => {
    const limit = limitOf(false, { callsMax: 2000, dialogsMax: 10, portsMax: 8 });
    expect(limit).toMatchObject({ dialogs: 10, unacknowledged: 8 });
  });

  it('is for a trunk of ours what there is: half of all messages, and as many calls as fit', () => {
    expect(limitOf(true, { callsMax: 20, dialogsMax: 10, portsMax: 2500 })).toEqual({
      dialogs: Number.POSITIVE_INFINITY,
      unacknowledged: 2500,
      rate: rateOf({ perSecond: 200, burst: 400 }),
    });
  });
});

/** What is said of clocks that do not fit the records. */
import { expect, it } from 'vitest';
import { doubtClock } from '../../src/records/retention/sweep-check.ts';

it('a call whose time is beyond all dates holds deletion, and is told', () => {
  const stored = { seenMs: 0, aheadMs: null, goOnMs: null, copiesDueMs: null, latestCallMs: 9e15 };
  const hold = doubtClock(0, stored);
  expect([hold?.reason, hold?.message]).toEqual(['clock_behind', expect.stringContaining('9000000000000000 ms')]);
});

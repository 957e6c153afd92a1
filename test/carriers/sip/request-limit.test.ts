import { describe, expect, it } from 'vitest';
import { RequestLimit } from '../../../src/carriers/sip/request-limit.ts';
import { rateOf } from '../../../src/foundation/token-buckets.ts';
import { FakeClock } from '../../fakes/clock.ts';

/** Of a source, and of all. */
const BURST = 100;
const PER_SECOND = 20;
const BURST_OF_ALL = 400;
const SOURCES_MAX = 1024;

/** Of a telephone's request. */
const BYTES = 1500;

const limitOf = (clock: FakeClock) => new RequestLimit(clock, () => rateOf({ perSecond: PER_SECOND, burst: BURST }));

/** How many of `count` requests are let through. */
function take(limit: RequestLimit, address: string, count: number, bytes = BYTES): number {
  return Array.from({ length: count }, () => limit.take(address, bytes)).filter((taken) => taken).length;
}

describe('what a source may ask for', () => {
  it('is a burst, then so much a second', () => {
    const clock = new FakeClock();
    const limit = limitOf(clock);
    expect(take(limit, 'a', 1000)).toBe(BURST);
    clock.advance(500);
    expect(take(limit, 'a', 1000)).toBe(PER_SECOND / 2);
    clock.advance(60_000);
    expect(take(limit, 'a', 1000)).toBe(BURST);
  });

  it('is its own', () => {
    const limit = limitOf(new FakeClock());
    expect(take(limit, 'a', 1000)).toBe(BURST);
    expect(take(limit, 'b', 1000)).toBe(BURST);
  });

  it('is less of what takes longer to read', () => {
    expect(take(limitOf(new FakeClock()), 'a', 1000, 2048)).toBe(BURST);
    expect(take(limitOf(new FakeClock()), 'a', 1000, 32_768)).toBe(3);
  });

  it('is part of what all may ask for', () => {
    const clock = new FakeClock();
    const limit = limitOf(clock);
    const taken = Array.from({ length: 10 }, (_, i) => take(limit, `forged-${i}`, 1000));
    expect(taken.reduce((sum, count) => sum + count)).toBe(BURST_OF_ALL);
    clock.advance(1000);
    expect(take(limit, 'new', 1000)).toBe(BURST);
  });

  it('is remembered while few others ask, and not for ever', () => {
    const clock = new FakeClock();
    const limit = limitOf(clock);
    take(limit, 'a', BURST);
    for (let i = 1; i < SOURCES_MAX; i++) limit.take(`other-${i}`, BYTES);
    clock.advance(1000);
    expect(take(limit, 'a', BURST)).toBe(PER_SECOND);
    for (let i = 0; i < SOURCES_MAX; i++) limit.take(`another-${i}`, BYTES);
    clock.advance(1000);
    expect(take(limit, 'a', BURST)).toBe(BURST);
  });
});

it('what may be said within a call is as much, for each call its own, and nothing of what is asked for outside', () => {
  const clock = new FakeClock();
  const limit = limitOf(clock);
  const within = (callId: string): number =>
    Array.from({ length: 1000 }, () => limit.takeWithin(callId, BYTES)).filter(Boolean).length;
  expect([within('call-1'), within('call-2'), take(limit, 'a', 1000)]).toEqual([BURST, BURST, BURST]);
  clock.advance(1000);
  expect(within('call-1')).toBe(PER_SECOND);
});

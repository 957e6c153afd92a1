import { describe, expect, it } from 'vitest';
import { RequestLimit } from '../../../src/trunks/sip/request-limit.ts';
import { FakeClock } from '../../fakes/clock.ts';

const BURST = 100;
const PER_SECOND = 50;
const SOURCES_MAX = 1024;

/** How many of `count` requests are let through. */
function take(limit: RequestLimit, address: string, count: number): number {
  return Array.from({ length: count }, () => limit.take(address)).filter((taken) => taken).length;
}

describe('what a source may ask for', () => {
  it('is a burst, then so much a second', () => {
    const clock = new FakeClock();
    const limit = new RequestLimit(clock);
    expect(take(limit, 'a', 1000)).toBe(BURST);
    clock.advance(500);
    expect(take(limit, 'a', 1000)).toBe(PER_SECOND / 2);
    clock.advance(60_000);
    expect(take(limit, 'a', 1000)).toBe(BURST);
  });

  it('is its own', () => {
    const limit = new RequestLimit(new FakeClock());
    expect(take(limit, 'a', 1000)).toBe(BURST);
    expect(take(limit, 'b', 1000)).toBe(BURST);
  });

  it('is shared by all beyond the most that are known', () => {
    const clock = new FakeClock();
    const limit = new RequestLimit(clock);
    for (let i = 0; i < SOURCES_MAX; i++) limit.take(`known-${i}`);
    let taken = 0;
    for (let i = 0; i < 1000; i++) taken += take(limit, `forged-${i}`, 1);
    expect(taken).toBe(BURST);
    expect(take(limit, 'known-7', 1000)).toBe(BURST - 1);
    clock.advance(2000);
    expect(take(limit, 'late', 1000)).toBe(BURST);
  });
});

import { describe, expect, it } from 'vitest';
import { SkippedTime } from '../../../src/calls/inbound/skipped-time.ts';

describe('time that was skipped', () => {
  it('counts for what comes after it, and not for what was before', () => {
    const skipped = new SkippedTime();
    expect([skipped.totalMs, skipped.toCallMs(500)]).toEqual([0, 500]);
    skipped.add(1000, 20_000);
    skipped.add(1000, 20_000);
    skipped.add(5000, 50_000.4);
    expect([900, 1000, 1001, 5000, 5001].map((ms) => skipped.toCallMs(ms))).toEqual([
      900, 1000, 21_001, 25_000, 55_001,
    ]);
    expect(skipped.totalMs).toBe(50_000.4);
  });

  it('adds up over more gaps than are remembered', () => {
    const skipped = new SkippedTime();
    for (let gap = 1; gap <= 100; gap++) skipped.add(gap * 1000, gap * 100);
    expect([99_500, 100_500].map((ms) => skipped.toCallMs(ms))).toEqual([99_500 + 9900, 100_500 + 10_000]);
    expect(skipped.toCallMs(10)).toBeGreaterThan(10);
  });
});

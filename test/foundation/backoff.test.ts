import { describe, expect, it } from 'vitest';
import { Backoff } from '../../src/foundation/backoff.ts';

const RESTARTS = { firstMs: 100, longestMs: 10_000, healthyMs: 30_000 };

describe('Backoff', () => {
  it('doubles from the first delay to the longest', () => {
    const backoff = new Backoff(RESTARTS);
    expect(Array.from({ length: 9 }, () => backoff.next(0))).toEqual([
      100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000,
    ]);
  });

  it('begins anew after what was healthy for long enough', () => {
    const backoff = new Backoff(RESTARTS);
    for (let i = 0; i < 5; i++) backoff.next(0);
    expect(backoff.next(29_999)).toBe(3200);
    expect(backoff.next(30_000)).toBe(100);
    expect(backoff.next(0)).toBe(200);
  });

  it('begins anew when it is told to', () => {
    const backoff = new Backoff({ firstMs: 1000, longestMs: 60_000 });
    expect([backoff.next(), backoff.next(), backoff.next()]).toEqual([1000, 2000, 4000]);
    backoff.restart();
    expect([backoff.next(), backoff.next()]).toEqual([1000, 2000]);
  });

  it('takes a random share off each delay, and still doubles them', () => {
    const shares = [0, 0.5, 0.999];
    const backoff = new Backoff({ ...RESTARTS, jitterShare: 0.5, random: () => shares.shift() ?? 0 });
    expect([backoff.next(0), backoff.next(0), Math.round(backoff.next(0))]).toEqual([100, 150, 200]);
  });
});

import { expect, it } from 'vitest';
import { rateOf, TokenBucket, TokenBuckets } from '../../src/foundation/token-buckets.ts';

const RATE = { burst: 3, refillMs: 100 };

it('a bucket is full at first, gets one more after each period, and never holds more than its most', () => {
  const bucket = new TokenBucket(RATE.burst, 0);
  const taken = (nowMs: number) => bucket.take(RATE, nowMs);
  expect([taken(0), taken(0), taken(0), taken(0), taken(99)]).toEqual([true, true, true, false, false]);
  expect([taken(100), taken(100)]).toEqual([true, false]);
  expect(bucket.left(RATE, 100_000)).toBe(3);
});

it('a bucket with too few gives none, and may owe some', () => {
  const bucket = new TokenBucket(RATE.burst, 0);
  expect([bucket.take(RATE, 0, 4), bucket.left(RATE, 0)]).toEqual([false, 3]);
  bucket.set(-2, 0);
  expect([bucket.left(RATE, 100), bucket.left(RATE, 300)]).toEqual([-1, 1]);
});

it('a rate of tokens a second is a period', () => {
  expect(rateOf({ perSecond: 20, burst: 5 })).toEqual({ burst: 5, refillMs: 50 });
});

it('each name has a bucket, and the one that was idle longest is forgotten first', () => {
  const buckets = new TokenBuckets(2);
  for (const name of ['a', 'b', 'a', 'c']) buckets.take(name, RATE, 0);
  expect(['a', 'b', 'c'].map((name) => buckets.left(name, RATE, 0))).toEqual([1, 3, 2]);
  buckets.refill('a');
  expect(buckets.left('a', RATE, 0)).toBe(3);
});

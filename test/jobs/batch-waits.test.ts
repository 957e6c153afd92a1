import { expect, it } from 'vitest';
import { BatchWaits } from '../../src/jobs/batch-waits.ts';
import { FakeClock } from '../fakes/clock.ts';

it('a batch waits from its beginning, and again from each recording that came to its end', () => {
  const clock = new FakeClock();
  const waits = new BatchWaits(clock);
  const batch = (id: string, waiting: number, agoMs = 0) => ({
    id,
    waiting,
    createdMs: clock.wall().getTime() - agoMs,
  });
  expect(waits.longestMs).toBe(0);
  waits.follow([batch('a', 3, 5000)]);
  expect(waits.longestMs).toBe(5000);
  clock.advance(1000);
  waits.follow([batch('a', 3), batch('b', 9)]);
  expect(waits.longestMs).toBe(6000);
  waits.follow([batch('a', 2), batch('b', 9)]);
  expect(waits.longestMs).toBe(0);
  clock.advance(2000);
  waits.follow([batch('a', 1), batch('b', 9)]);
  expect(waits.longestMs).toBe(2000);
  waits.follow([]);
  expect(waits.longestMs).toBe(0);
});

it('a batch of a clock that was ahead has not waited', () => {
  const clock = new FakeClock();
  const waits = new BatchWaits(clock);
  waits.follow([{ id: 'a', waiting: 1, createdMs: clock.wall().getTime() + 90_000 }]);
  expect(waits.longestMs).toBe(0);
});

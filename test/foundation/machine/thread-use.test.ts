import { expect, it } from 'vitest';
import { ThreadUse } from '../../../src/foundation/machine/thread-use.ts';
import { FakeClock } from '../../fakes/clock.ts';

it('is what the event loop worked since it was read before, at most every five seconds', () => {
  const clock = new FakeClock();
  const spans = [0.25, 0.75];
  const read = (since?: unknown) => ({
    idle: 0,
    active: 0,
    utilization: since === undefined ? 0 : (spans.shift() ?? -1),
  });
  const use = new ThreadUse(clock, read);
  expect(use.share).toBe(0);
  clock.advance(5000);
  expect([use.share, use.share]).toEqual([0.25, 0.25]);
  clock.advance(4999);
  expect(use.share).toBe(0.25);
  clock.advance(1);
  expect(use.share).toBe(0.75);
});

it('is read from Node', () => {
  const clock = new FakeClock();
  const use = new ThreadUse(clock);
  clock.advance(5000);
  expect(use.share).toBeGreaterThanOrEqual(0);
  expect(use.share).toBeLessThanOrEqual(1);
});

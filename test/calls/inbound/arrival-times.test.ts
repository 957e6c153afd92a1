import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ArrivalTimes } from '../../../src/calls/inbound/arrival-times.ts';
import { FakeClock } from '../../fakes/clock.ts';

/** Chunks of 20 ms that arrive at these ms; numbered from 1 unless said otherwise. */
function placeAt(arrivalsMs: readonly number[], sequences = arrivalsMs.map((_, index) => index + 1)): number[] {
  const clock = new FakeClock();
  const times = new ArrivalTimes(clock);
  let nowMs = 0;
  return arrivalsMs.map((atMs, index) => {
    clock.advance(atMs - nowMs);
    nowMs = atMs;
    return times.place(20, sequences[index] ?? 0);
  });
}

describe('times from arrivals', () => {
  it('begin when the first chunk was said', () => {
    expect(placeAt([520])).toEqual([500]);
  });

  it('have no break where chunks jitter by less than 60 ms', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 59 }), { minLength: 1, maxLength: 50 }), (jitters) => {
        let latestMs = 0;
        const arrivals = jitters.map((jitterMs, index) => {
          latestMs = Math.max(latestMs, 100 + index * 20 + (index === 0 ? 0 : jitterMs));
          return latestMs;
        });
        expect(placeAt(arrivals)).toEqual(arrivals.map((_, index) => 80 + index * 20));
      }),
    );
  });

  it('leave a gap as long as nothing came', () => {
    expect(placeAt([20, 40, 1060, 1080])).toEqual([0, 20, 1040, 1060]);
  });

  it('leave the gap too when frames are lost one by one', () => {
    expect(placeAt([20, 60, 100, 140, 180, 220]).at(-1)).toBeGreaterThanOrEqual(140);
  });

  it('leave room for a frame that the carrier knows to be lost', () => {
    expect(placeAt([20, 40, 80], [1, 2, 4])).toEqual([0, 20, 60]);
  });

  it('take what comes at once as it was said, one after the other', () => {
    expect(placeAt([20, 20, 20, 20])).toEqual([0, 20, 40, 60]);
  });

  it('have no gap for a pause of ours, and have the next one of the carrier', () => {
    const clock = new FakeClock();
    const times = new ArrivalTimes(clock);
    clock.advance(20);
    expect(times.place(20, 1)).toBe(0);
    clock.advance(5000);
    times.forgivePause();
    expect([2, 3, 4].map((sequence) => times.place(20, sequence))).toEqual([20, 40, 60]);
    clock.advance(1000);
    expect(times.place(20, 5)).toBe(6000);
  });
});

import { describe, expect, it } from 'vitest';
import { LoadMeter } from '../../src/engine-client/load-meter.ts';
import { FakeClock } from '../fakes/clock.ts';

describe('LoadMeter', () => {
  it('is the share of all engine time over the last 5 s', () => {
    const clock = new FakeClock();
    const meter = new LoadMeter(clock, 2);
    for (let i = 0; i < 50; i++) {
      meter.add(60);
      clock.advance(99);
    }
    expect(meter.share).toBeCloseTo(0.3, 5);
  });

  it('forgets what is older than 5 s', () => {
    const clock = new FakeClock();
    const meter = new LoadMeter(clock, 1);
    meter.add(2500);
    clock.advance(4499);
    expect(meter.share).toBe(0.5);
    clock.advance(501);
    expect(meter.share).toBe(0);
    meter.add(500);
    expect(meter.share).toBe(0.1);
  });

  it('never exceeds 1', () => {
    const meter = new LoadMeter(new FakeClock(), 1);
    meter.add(60_000);
    expect(meter.share).toBe(1);
  });
});

import { describe, expect, it } from 'vitest';
import { admitCall } from '../../src/calls/admission/admission.ts';
import { IdleWatch } from '../../src/engine-client/idle.ts';
import { LoadMeter } from '../../src/engine-client/load.ts';
import { defaultWorkers } from '../../src/engine-client/workers.ts';
import { TrunklineError } from '../../src/foundation/errors.ts';
import { FakeClock } from '../fakes/clock.ts';

describe('admitCall', () => {
  const calm = { liveCount: 3, maxCalls: 10, firmLoad: 0.4, draining: false };

  function refusal(occupancy: typeof calm): TrunklineError {
    try {
      admitCall(occupancy);
    } catch (error) {
      if (error instanceof TrunklineError) return error;
    }
    throw new Error('the call was admitted');
  }

  it('lets a call in where there is room', () => {
    expect(() => admitCall(calm)).not.toThrow();
    expect(() => admitCall({ ...calm, liveCount: 9, firmLoad: 0.84 })).not.toThrow();
  });

  it('refuses one more than MAX_CALLS and names the limit', () => {
    const error = refusal({ ...calm, liveCount: 10 });
    expect(error.code).toBe('too_many_calls');
    expect(error.message).toContain('10 calls are live');
    expect(error.message).toContain('MAX_CALLS');
  });

  it('refuses a call when live calls take the engines whole', () => {
    const error = refusal({ ...calm, firmLoad: 0.97 });
    expect(error.code).toBe('too_many_calls');
    expect(error.message).toContain("97 % of the engines' time");
  });

  it('lets the first call in whatever the load was a moment ago', () => {
    expect(() => admitCall({ ...calm, liveCount: 0, firmLoad: 1 })).not.toThrow();
  });

  it('refuses everything while draining, and says so first', () => {
    expect(refusal({ liveCount: 10, maxCalls: 10, firmLoad: 1, draining: true }).code).toBe('draining');
  });
});

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

describe('IdleWatch', () => {
  function makeWatch(idleMs: number) {
    const clock = new FakeClock();
    const state = { busy: false, idleAtMs: [] as number[] };
    const watch = new IdleWatch({
      clock,
      idleMs,
      hasWork: () => state.busy,
      onIdle: () => state.idleAtMs.push(clock.nowMs()),
    });
    return { clock, state, watch };
  }

  it('fires once, when the last work is long enough ago', () => {
    const { clock, state, watch } = makeWatch(1000);
    watch.note();
    clock.advance(700);
    watch.note();
    clock.advance(5000);
    expect(state.idleAtMs).toEqual([1700]);
    watch.note();
    clock.advance(1000);
    expect(state.idleAtMs).toEqual([1700, 6700]);
  });

  it('does not fire while a job is under way', () => {
    const { clock, state, watch } = makeWatch(1000);
    watch.note();
    state.busy = true;
    clock.advance(10_000);
    expect(state.idleAtMs).toEqual([]);
  });

  it('is silent with 0, and after it was closed', () => {
    const never = makeWatch(0);
    never.watch.note();
    expect(never.clock.pending).toBe(0);
    const closed = makeWatch(1000);
    closed.watch.note();
    closed.watch.close();
    closed.watch.note();
    expect(closed.clock.pending).toBe(0);
  });
});

describe('defaultWorkers', () => {
  it('uses both of two cores, keeps one back on larger machines, and stops at 8', () => {
    expect([1, 2, 3, 4, 8, 9, 64].map(defaultWorkers)).toEqual([1, 2, 2, 3, 7, 8, 8]);
  });
});

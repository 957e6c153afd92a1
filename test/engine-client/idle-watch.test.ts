import { describe, expect, it } from 'vitest';
import { IdleWatch } from '../../src/engine-client/idle-watch.ts';
import { FakeClock } from '../fakes/clock.ts';

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

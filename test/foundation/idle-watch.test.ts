import { describe, expect, it } from 'vitest';
import { IdleWatch } from '../../src/foundation/idle-watch.ts';
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

  it('counts from the end of what was under way', () => {
    const { clock, state, watch } = makeWatch(60_000);
    watch.note();
    state.busy = true;
    clock.advance(300_000);
    state.busy = false;
    clock.advance(45_000);
    expect(state.idleAtMs).toEqual([]);
    clock.advance(15_000);
    expect(state.idleAtMs).toHaveLength(1);
  });

  it('takes longer, up to four times, where work came soon after it had fired, and as long as ever after that', () => {
    const { clock, state, watch } = makeWatch(1000);
    /** Notes work so long after the last time, and tells how long it took to fire. */
    const firesAfter = (waitMs: number): number => {
      clock.advance(waitMs);
      watch.note();
      const notedMs = clock.nowMs();
      const fired = state.idleAtMs.length;
      while (state.idleAtMs.length === fired) clock.advance(100);
      return (state.idleAtMs.at(-1) ?? 0) - notedMs;
    };
    expect([0, 500, 500, 500, 2000, 500].map(firesAfter)).toEqual([1000, 2000, 4000, 4000, 1000, 2000]);
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

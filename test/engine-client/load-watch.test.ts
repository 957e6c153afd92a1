import { describe, expect, it } from 'vitest';
import { LoadWatch } from '../../src/engine-client/load-watch.ts';
import { FakeClock } from '../fakes/clock.ts';

function watch(startMs: number | null = 0) {
  const clock = new FakeClock();
  const state = { cpuMs: startMs, stuck: [] as string[] };
  const load = new LoadWatch({ clock, cpuMs: () => state.cpuMs, onStuck: (reason) => state.stuck.push(reason) });
  /** Passes minutes, in each of which the process uses so much CPU time. */
  const pass = (minutes: number, cpuMs: number): void => {
    for (let seconds = 0; seconds < minutes * 60; seconds += 10) {
      if (state.cpuMs !== null) state.cpuMs += cpuMs / 6;
      clock.advance(10_000);
    }
  };
  return { clock, state, load, pass };
}

const STILL = 'made no progress for 60000 ms while it loaded (its start)';

describe('an engine that loads', () => {
  it('may take as long as it needs on a machine that hardly lets it run', () => {
    const { state, load, pass } = watch();
    pass(30, 100);
    load.begin('the other models');
    pass(30, 100);
    expect(state.stuck).toEqual([]);
  });

  it('hangs when it does nothing and says nothing for a minute', () => {
    const { clock, state, pass } = watch();
    pass(10, 100);
    clock.advance(50_000);
    expect(state.stuck).toEqual([]);
    clock.advance(10_000);
    expect(state.stuck).toEqual([STILL]);
    expect(clock.pending).toBe(0);
  });

  it('hangs when it only waits, which takes a little time as well', () => {
    const { state, pass } = watch();
    pass(2, 20);
    expect(state.stuck).toEqual([STILL]);
  });

  it('hangs when it is busy for ever at one thing, which the reason names', () => {
    const { state, load, pass } = watch();
    pass(8, 60_000);
    load.begin('the recogniser');
    pass(8, 60_000);
    expect(state.stuck).toEqual([]);
    pass(3, 60_000);
    expect(state.stuck).toEqual(['took 600000 ms of CPU time for one stage of loading (the recogniser)']);
  });

  it('is judged by what it says alone where nobody knows its CPU time', () => {
    const { clock, state, load } = watch(null);
    clock.advance(55_000);
    load.received();
    clock.advance(55_000);
    expect(state.stuck).toEqual([]);
    clock.advance(10_000);
    expect(state.stuck).toEqual([STILL]);
  });

  it('is no longer watched when it is ready, whatever it says', () => {
    const { clock, state, load } = watch();
    load.end();
    load.received();
    clock.advance(700_000);
    expect(state.stuck).toEqual([]);
    expect(clock.pending).toBe(0);
  });
});

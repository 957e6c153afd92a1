import { describe, expect, it } from 'vitest';
import { HangDetector } from '../../src/engine-client/hang-detector.ts';
import { FakeClock } from '../fakes/clock.ts';

function watch() {
  const clock = new FakeClock();
  const state = { hasWork: true, asked: 0, silentMs: [] as number[] };
  const silence = new HangDetector({
    clock,
    hasWork: () => state.hasWork,
    ask: () => state.asked++,
    onSilent: (silentMs) => state.silentMs.push(silentMs),
  });
  return { clock, state, silence };
}

describe('the silence of an engine', () => {
  it('is asked about once, and counts from then on', () => {
    const { clock, state, silence } = watch();
    silence.begin();
    clock.advance(249);
    expect(state.asked).toBe(0);
    expect(silence.isAsked).toBe(false);
    clock.advance(1001);
    expect(state.asked).toBe(1);
    expect(silence.isAsked).toBe(true);
    expect(state.silentMs).toEqual([0, 250, 500, 750, 1000]);
  });

  it('is not asked about while it answers', () => {
    const { clock, state, silence } = watch();
    silence.begin();
    for (let i = 0; i < 100; i++) {
      clock.advance(200);
      silence.received();
    }
    expect(state).toMatchObject({ asked: 0, silentMs: [] });
  });

  it('ends with the first word, and begins anew after it', () => {
    const { clock, state, silence } = watch();
    silence.begin();
    clock.advance(1000);
    silence.received();
    expect(silence.isAsked).toBe(false);
    clock.advance(250);
    expect(state.asked).toBe(1);
    clock.advance(250);
    expect(state.asked).toBe(2);
    expect(state.silentMs).toEqual([0, 250, 500, 750, 0]);
  });

  it('means nothing without work, and leaves no timer', () => {
    const { clock, state, silence } = watch();
    silence.begin();
    state.hasWork = false;
    clock.advance(10_000);
    expect(state.asked).toBe(0);
    expect(clock.pending).toBe(0);
  });

  it('does not count the time in which the gateway itself stood still', () => {
    const { clock, state, silence } = watch();
    silence.begin();
    clock.advance(250);
    clock.stall(60_000);
    expect(state.silentMs).toEqual([0, 250]);
  });

  it('is watched no more after its end', () => {
    const { clock, state, silence } = watch();
    silence.begin();
    silence.end();
    clock.advance(10_000);
    expect(state.asked).toBe(0);
    expect(clock.pending).toBe(0);
  });
});

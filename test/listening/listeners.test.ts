import { describe, expect, it } from 'vitest';
import { Metrics } from '../../src/foundation/metrics.ts';
import { Listeners } from '../../src/listening/listeners.ts';
import { FakeClock, settle } from '../fakes/clock.ts';

const nothing = (): void => undefined;

function open(max = 3) {
  const state = { firmLoad: 0, isDraining: false };
  const metrics = new Metrics();
  const clock = new FakeClock();
  const listeners = new Listeners({
    engine: state,
    settings: { LISTENERS_MAX: max },
    metrics,
    clock,
    isDraining: () => state.isDraining,
  });
  return { listeners, metrics, clock, state };
}

describe('listeners', () => {
  it('are refused beyond the most, of whatever kind they are, until one is gone', () => {
    const { listeners } = open(2);
    const leave = listeners.enter('deepgram', nothing);
    listeners.admit();
    listeners.enter('realtime', nothing);
    expect(() => listeners.admit()).toThrow(/2 listening sessions are open and at most 2/);
    leave();
    leave();
    expect(() => listeners.admit()).not.toThrow();
    expect(listeners.count).toBe(1);
  });

  it('are refused while the engines have no room, unless nobody listens', () => {
    const { listeners, state } = open();
    state.firmLoad = 0.85;
    expect(() => listeners.admit()).not.toThrow();
    listeners.enter('qwen', nothing);
    expect(() => listeners.admit()).toThrow(expect.objectContaining({ code: 'too_many_listeners' }));
    state.firmLoad = 0.84;
    expect(() => listeners.admit()).not.toThrow();
  });

  it('are refused while the server shuts down', () => {
    const { listeners, state } = open();
    state.isDraining = true;
    expect(() => listeners.admit()).toThrow(expect.objectContaining({ code: 'draining' }));
  });

  it('are counted by their kind', async () => {
    const { listeners, metrics } = open();
    const leave = listeners.enter('deepgram', nothing);
    listeners.enter('deepgram', nothing);
    leave();
    const { values } = await metrics.listeners.get();
    const byKind = new Map(values.map(({ labels, value }) => [labels.kind, value]));
    expect([byKind.get('deepgram'), byKind.get('qwen')]).toEqual([1, 0]);
  });

  it('are waited for until they have gone, and none is let in meanwhile', async () => {
    const { listeners } = open();
    let asked = 0;
    const leave = listeners.enter('deepgram', () => asked++);
    const leaveToo = listeners.enter('speak', () => asked++);
    const drained = listeners.drain(1000);
    expect(() => listeners.admit()).toThrow(expect.objectContaining({ code: 'draining' }));
    leave();
    leaveToo();
    await drained;
    expect(asked).toBe(0);
  });

  it('are asked to end when the time is up, and waited for some seconds more', async () => {
    const { listeners, clock } = open();
    const asked: string[] = [];
    const leave = listeners.enter('deepgram', () => asked.push('one'));
    listeners.enter('flux', () => asked.push('other'));
    const drained = listeners.drain(1000).then(() => asked.push('drained'));
    clock.advance(999);
    await settle();
    expect(asked).toEqual([]);
    clock.advance(1);
    await settle();
    leave();
    await settle();
    expect(asked).toEqual(['one', 'other']);
    clock.advance(5000);
    await drained;
    expect(asked).toEqual(['one', 'other', 'drained']);
  });
});

import { describe, expect, it } from 'vitest';
import { Metrics } from '../../src/foundation/metrics.ts';
import { Listeners } from '../../src/listening/listeners.ts';

function open(max = 3): { listeners: Listeners; metrics: Metrics; state: { firmLoad: number; isDraining: boolean } } {
  const state = { firmLoad: 0, isDraining: false };
  const metrics = new Metrics();
  const listeners = new Listeners({
    engine: state,
    settings: { LISTENERS_MAX: max },
    metrics,
    isDraining: () => state.isDraining,
  });
  return { listeners, metrics, state };
}

describe('listeners', () => {
  it('are refused beyond the most, of whatever kind they are, until one is gone', () => {
    const { listeners } = open(2);
    const leave = listeners.enter('deepgram');
    listeners.admit();
    listeners.enter('realtime');
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
    listeners.enter('qwen');
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
    const leave = listeners.enter('deepgram');
    listeners.enter('deepgram');
    leave();
    const { values } = await metrics.listeners.get();
    const byKind = new Map(values.map(({ labels, value }) => [labels.kind, value]));
    expect([byKind.get('deepgram'), byKind.get('qwen')]).toEqual([1, 0]);
  });
});

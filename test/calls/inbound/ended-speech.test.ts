import { describe, expect, it } from 'vitest';
import { EndedSpeech } from '../../../src/calls/inbound/ended-speech.ts';

function begin() {
  const speech = new EndedSpeech();
  const end = (unreadMs: number) => {
    const call = { unreadMs };
    let finish: () => void = () => undefined;
    const until = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const signal = speech.add({ unreadMs: () => call.unreadMs, until });
    return { call, signal, finish };
  };
  return { end };
}

describe('what is still to be read of calls that have ended', () => {
  it('may be four minutes in all; then the calls that ended first are given up', () => {
    const { end } = begin();
    const calls = Array.from({ length: 25 }, () => end(10_000));
    expect(calls.map(({ signal }) => signal.aborted).indexOf(false)).toBe(1);
    const last = end(100_000);
    expect(calls.filter(({ signal }) => signal.aborted)).toHaveLength(11);
    expect(last.signal.aborted).toBe(false);
  });

  it('counts what is left now, and nothing of calls that have been read', async () => {
    const { end } = begin();
    const [first, second] = [end(200_000), end(20_000)];
    first.call.unreadMs = 30_000;
    expect(end(190_000).signal.aborted).toBe(false);
    expect(first.signal.aborted).toBe(false);
    first.finish();
    await Promise.resolve();
    end(30_000);
    expect([first, second].map(({ signal }) => signal.aborted)).toEqual([false, false]);
  });
});

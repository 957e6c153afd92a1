import { describe, expect, it } from 'vitest';
import { heldCalls, nextCalls } from '../../../src/cli/capacity/steps.ts';

/**
 * Which numbers of calls are tried on a machine that holds so many; `disturbed`: the first try of this number fails all
 * the same.
 */
function triedOn(capacity: number, cores: number, disturbed = 0): { tried: number[]; held: number } {
  const steps: { calls: number; held: boolean }[] = [];
  for (let calls = nextCalls(steps, cores); calls !== null; calls = nextCalls(steps, cores)) {
    const isFirst = !steps.some((step) => step.calls === calls);
    steps.push({ calls, held: calls <= capacity && !(calls === disturbed && isFirst) });
  }
  return { tried: steps.map(({ calls }) => calls), held: heldCalls(steps) };
}

describe('the numbers of calls to try', () => {
  it('rise with the cores until one is too many twice, and then close in on it once', () => {
    expect(triedOn(47, 2)).toEqual({ tried: [4, 10, 20, 30, 40, 50, 50, 45], held: 45 });
    expect(triedOn(43, 2)).toEqual({ tried: [4, 10, 20, 30, 40, 50, 50, 45, 45], held: 40 });
    expect(triedOn(12, 2)).toEqual({ tried: [4, 10, 20, 20, 15, 15], held: 10 });
  });

  it('are tried again where something disturbed them', () => {
    expect(triedOn(47, 2, 10).tried).toEqual([4, 10, 10, 20, 30, 40, 50, 50, 45]);
    expect(triedOn(47, 2, 45)).toEqual({ tried: [4, 10, 20, 30, 40, 50, 50, 45, 45], held: 45 });
  });

  it('go down where the first is too many', () => {
    expect(triedOn(2, 2)).toEqual({ tried: [4, 4, 2], held: 2 });
    expect(triedOn(0, 2)).toEqual({ tried: [4, 4, 2, 2], held: 0 });
    expect(triedOn(0, 0.25)).toEqual({ tried: [1, 1], held: 0 });
  });

  it('end where a machine holds more than any is likely to', () => {
    expect(triedOn(10_000, 2)).toEqual({ tried: [4, 10, 20, 30, 40, 50, 60, 80, 120], held: 120 });
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Line } from '../../src/simulator/line.ts';

const PERFECT = { jitterMs: 0, lossShare: 0, reorderShare: 0, seed: 1 };

/** Puts `count` media messages, 20 ms apart, through a line and returns them as they come out. */
function carry(faults: Partial<typeof PERFECT>, count: number): string[] {
  const line = new Line({ ...PERFECT, ...faults });
  const arrived: string[] = [];
  for (let index = 0; index < count; index++) {
    line.putMedia('inbound', String(index), index * 20);
    arrived.push(...line.take(index * 20));
  }
  line.put('stop', count * 20);
  return [...arrived, ...line.take(Number.POSITIVE_INFINITY)];
}

const numbered = (count: number) => Array.from({ length: count }, (_, index) => String(index));

describe('a line', () => {
  it('carries everything at once and in order when it is perfect', () => {
    expect(carry({}, 100)).toEqual([...numbered(100), 'stop']);
  });

  it('loses the share of media it is told to lose, and never another message', () => {
    const arrived = carry({ lossShare: 0.1 }, 2000);
    expect(arrived.length).toBeGreaterThan(1750);
    expect(arrived.length).toBeLessThan(1850);
    expect(arrived.at(-1)).toBe('stop');
    expect(carry({ lossShare: 1 }, 100)).toEqual(['stop']);
  });

  it('swaps a reordered message with its successor and loses none', () => {
    const arrived = carry({ reorderShare: 0.2 }, 500);
    const swapped = arrived.filter((message, index) => Number(arrived[index + 1]) < Number(message));
    expect(swapped.length).toBeGreaterThan(50);
    expect([...arrived].sort((a, b) => Number(a) - Number(b)).slice(0, 500)).toEqual(numbered(500));
    for (const [index, message] of arrived.slice(0, -1).entries())
      expect(Math.abs(Number(message) - index)).toBeLessThanOrEqual(1);
  });

  it('keeps the tracks apart when it reorders', () => {
    const line = new Line({ ...PERFECT, reorderShare: 1 });
    line.putMedia('inbound', 'in 1', 0);
    line.putMedia('outbound', 'out 1', 0);
    line.putMedia('inbound', 'in 2', 20);
    line.putMedia('outbound', 'out 2', 20);
    expect(line.take(20)).toEqual(['in 2', 'in 1', 'out 2', 'out 1']);
  });

  it('is late by at most the jitter, and messages do not overtake each other by it', () => {
    const line = new Line({ ...PERFECT, jitterMs: 80 });
    for (let index = 0; index < 50; index++) line.putMedia('inbound', String(index), index * 20);
    let arrived = 0;
    for (let nowMs = 0; nowMs <= 50 * 20 + 80; nowMs += 10) {
      for (const message of line.take(nowMs)) {
        expect(message).toBe(String(arrived++));
        expect(nowMs).toBeGreaterThanOrEqual(Number(message) * 20);
        expect(nowMs).toBeLessThanOrEqual(Number(message) * 20 + 80 + 10);
      }
    }
    expect(arrived).toBe(50);
    expect(line.nextDueMs).toBeNull();
  });

  it('has the same faults whenever the seed is the same', () => {
    const shares = fc.record({
      lossShare: fc.double({ min: 0, max: 1, noNaN: true }),
      reorderShare: fc.double({ min: 0, max: 1, noNaN: true }),
      seed: fc.integer(),
    });
    fc.assert(
      fc.property(shares, (faults) => {
        expect(carry(faults, 60)).toEqual(carry(faults, 60));
      }),
    );
    expect(carry({ lossShare: 0.5, seed: 1 }, 60)).not.toEqual(carry({ lossShare: 0.5, seed: 2 }, 60));
  });
});

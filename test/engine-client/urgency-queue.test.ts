import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { URGENCIES, type Urgency } from '../../engine/contract.ts';
import { compareRanked, type Ranked, UrgencyQueue } from '../../src/engine-client/urgency-queue.ts';

const item = (id: number, urgency: Urgency, dueAtMs = 0): Ranked => ({ id, urgency, dueAtMs });

const arbitraryItems = fc
  .array(fc.record({ urgency: fc.constantFrom(...URGENCIES), dueAtMs: fc.nat(5) }), { maxLength: 60 })
  .map((items) => items.map((fields, id) => item(id, fields.urgency, fields.dueAtMs)));

function popAll(queue: UrgencyQueue<Ranked>): Ranked[] {
  const popped: Ranked[] = [];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) popped.push(next);
  return popped;
}

function filled(capacity: number, items: readonly Ranked[]): UrgencyQueue<Ranked> {
  const queue = new UrgencyQueue<Ranked>(capacity);
  for (const each of items) queue.push(each);
  return queue;
}

describe('UrgencyQueue', () => {
  it('pops by urgency first', () => {
    const backwards = URGENCIES.toReversed().map((urgency, id) => item(id, urgency));
    expect(popAll(filled(10, backwards)).map((each) => each.urgency)).toEqual([...URGENCIES]);
  });

  it('pops the earlier deadline first inside one urgency', () => {
    expect(popAll(filled(10, [item(1, 'final', 90), item(2, 'final', 30)])).map((each) => each.id)).toEqual([2, 1]);
  });

  it('is first in, first out where urgency and deadline are the same', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), (count) => {
        const items = Array.from({ length: count }, (_, id) => item(id, 'final'));
        expect(popAll(filled(50, items))).toEqual(items);
      }),
    );
  });

  it('always pops the most urgent of what it holds, in whatever order things are pushed, popped and removed', () => {
    const step = fc.record({
      action: fc.constantFrom('push', 'push', 'pop', 'remove'),
      pick: fc.nat(),
      urgency: fc.constantFrom(...URGENCIES),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const queue = new UrgencyQueue<Ranked>(100);
        const model: Ranked[] = [];
        steps.forEach(({ action, pick, urgency }, id) => {
          const index = pick % Math.max(model.length, 1);
          if (action === 'push') {
            const pushed = item(id, urgency, pick % 7);
            queue.push(pushed);
            model.push(pushed);
            model.sort(compareRanked);
          } else if (action === 'pop') {
            expect(queue.pop()).toBe(model.shift());
          } else {
            for (const removed of model.splice(index, 1)) expect(queue.remove(removed)).toBe(true);
          }
        });
        expect(popAll(queue)).toEqual(model);
      }),
    );
  });

  it('gives back whatever does not fit: never more than its capacity waits and nothing is lost', () => {
    fc.assert(
      fc.property(arbitraryItems, fc.integer({ min: 1, max: 20 }), (items, capacity) => {
        const queue = new UrgencyQueue<Ranked>(capacity);
        const dropped = items.flatMap((each) => queue.push(each) ?? []);
        expect(queue.size).toBe(Math.min(items.length, capacity));
        expect([...popAll(queue), ...dropped].map((each) => each.id).toSorted((a, b) => a - b)).toEqual(
          items.map((each) => each.id),
        );
      }),
    );
  });

  it('drops the least urgent partial when it is full', () => {
    const queue = filled(3, [item(1, 'partial', 10), item(2, 'partial', 90), item(3, 'batch')]);
    expect(queue.push(item(4, 'final'))).toEqual(item(2, 'partial', 90));
    expect(popAll(queue).map((each) => each.id)).toEqual([4, 1, 3]);
  });

  it('drops a turn where it is full and no partial waits', () => {
    const queue = filled(2, [item(1, 'turn'), item(2, 'eager')]);
    expect(queue.push(item(3, 'final'))).toEqual(item(1, 'turn'));
  });

  it('drops a new partial that is less urgent than those that wait', () => {
    const queue = filled(1, [item(1, 'partial', 10)]);
    expect(queue.push(item(2, 'partial', 20))).toEqual(item(2, 'partial', 20));
    expect(queue.peek()).toEqual(item(1, 'partial', 10));
  });

  it('gives the newcomer back when it is full and holds no partial', () => {
    const queue = filled(1, [item(1, 'batch')]);
    expect(queue.push(item(2, 'detect'))).toEqual(item(2, 'detect'));
    expect(queue.size).toBe(1);
  });

  it('forgets a removed item and says whether it had it', () => {
    const items = [item(1, 'final'), item(2, 'partial'), item(3, 'batch')] as const;
    const queue = filled(5, items);
    expect(queue.remove(items[1])).toBe(true);
    expect(queue.remove(items[1])).toBe(false);
    expect(popAll(queue).map((each) => each.id)).toEqual([1, 3]);
  });
});

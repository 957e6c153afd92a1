import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FairQueue, type Owned } from '../../src/engine-client/fair-queue.ts';

const item = (id: number, tenant: string, dueAtMs = 0): Owned => ({ id, tenant, dueAtMs, urgency: 'batch' });

function filled(items: readonly Owned[], capacity = 100): FairQueue<Owned> {
  const queue = new FairQueue<Owned>(capacity);
  for (const each of items) queue.push(each);
  return queue;
}

function popAll(queue: FairQueue<Owned>): Owned[] {
  const popped: Owned[] = [];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) popped.push(next);
  return popped;
}

describe('FairQueue', () => {
  it('serves tenants in turn, however much each has waiting', () => {
    const queue = filled([item(1, 'a'), item(2, 'a'), item(3, 'a'), item(4, 'b'), item(5, 'b'), item(6, 'c')]);
    expect(popAll(queue).map(({ id }) => id)).toEqual([1, 4, 6, 2, 5, 3]);
  });

  it('serves the earliest deadline of a tenant first, and of equals the one that came first', () => {
    expect(popAll(filled([item(1, 'a', 20), item(2, 'a', 10), item(3, 'a', 20)])).map(({ id }) => id)).toEqual([
      2, 1, 3,
    ]);
  });

  it('lets nobody wait for more than one job of each other tenant', () => {
    const arrivals = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(arrivals, (tenants) => {
        const order = popAll(filled(tenants.map((tenant, id) => item(id, tenant))));
        const left = new Map<string, number>();
        for (const tenant of tenants) left.set(tenant, (left.get(tenant) ?? 0) + 1);
        const lastAt = new Map<string, number>();
        order.forEach(({ tenant }, index) => {
          expect(index - (lastAt.get(tenant) ?? -1)).toBeLessThanOrEqual(new Set(tenants).size);
          lastAt.set(tenant, index);
          left.set(tenant, (left.get(tenant) ?? 0) - 1);
        });
        expect([...left.values()].every((count) => count === 0)).toBe(true);
      }),
    );
  });

  it('peeks at what it will pop', () => {
    const queue = filled([item(1, 'a'), item(2, 'b')]);
    queue.pop();
    expect(queue.peek()).toEqual(item(2, 'b'));
    expect(queue.pop()).toEqual(item(2, 'b'));
  });

  it('gives back what does not fit', () => {
    const queue = filled([item(1, 'a')], 1);
    expect(queue.push(item(2, 'b'))).toEqual(item(2, 'b'));
    expect([...queue]).toEqual([item(1, 'a')]);
  });

  it('forgets a removed job, and its tenant with the last one', () => {
    const jobs = [item(1, 'a'), item(2, 'b')] as const;
    const queue = filled(jobs);
    expect(queue.remove(jobs[0])).toBe(true);
    expect(queue.remove(jobs[0])).toBe(false);
    expect([queue.size, ...popAll(queue)]).toEqual([1, jobs[1]]);
  });
});

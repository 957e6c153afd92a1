import { expect, it } from 'vitest';
import { CommandBudget } from '../../src/listening/command-budget.ts';
import { FakeClock } from '../fakes/clock.ts';

function takeAll(budget: CommandBudget): number {
  for (let taken = 0; taken < 10_000; taken++) {
    try {
      budget.take();
    } catch (error) {
      expect(error).toMatchObject({ code: 'too_many_requests' });
      return taken;
    }
  }
  throw new Error('there is no limit');
}

it('allows a thousand at once, and then a hundred a second', () => {
  const clock = new FakeClock();
  const budget = new CommandBudget(clock);
  expect(takeAll(budget)).toBe(1000);
  clock.advance(500);
  expect(takeAll(budget)).toBeLessThanOrEqual(50);
  clock.advance(1_000_000);
  expect(takeAll(budget)).toBeLessThanOrEqual(1000);
});

it('counts nothing that is given back', () => {
  const budget = new CommandBudget(new FakeClock());
  for (let taken = 0; taken < 5000; taken++) {
    budget.take();
    budget.giveBack();
  }
  expect(takeAll(budget)).toBe(1000);
});

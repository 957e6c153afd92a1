import { expect, it } from 'vitest';
import { RowUpkeep } from '../../../src/cluster/feed/row-upkeep.ts';
import { FakeClock } from '../../fakes/clock.ts';

it('has rows deleted when they are old, also where nothing comes after them', async () => {
  const clock = new FakeClock();
  const trimmed: number[] = [];
  const upkeep = new RowUpkeep({ history: 0, clock, trim: (number) => void trimmed.push(number) });
  upkeep.note(5);
  await clock.run(59_000, 1000);
  expect(trimmed).toEqual([]);
  await clock.run(5000, 1000);
  expect(trimmed).toEqual([5]);
  await clock.run(100_000, 1000);
  expect(trimmed).toEqual([5]);
});

it('leaves as many rows as readers may ask for, however old', async () => {
  const clock = new FakeClock();
  const trimmed: number[] = [];
  const upkeep = new RowUpkeep({ history: 10, clock, trim: (number) => void trimmed.push(number) });
  upkeep.note(100);
  await clock.run(200_000, 1000);
  expect(trimmed).toEqual([90]);
});

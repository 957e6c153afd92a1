import { expect, it } from 'vitest';
import { Notices } from '../../../src/foundation/log/notices.ts';
import { VirtualClock } from '../../../src/foundation/virtual-clock.ts';

it('a thing is told again when its period is over, whatever else is told meanwhile', () => {
  const clock = new VirtualClock();
  const notices = new Notices(clock, 1000);
  const due = () => ['one', 'other'].map((what) => notices.isDue(what));
  expect(notices.isDue('one')).toBe(true);
  expect(due()).toEqual([false, true]);
  clock.advance(999);
  expect(due()).toEqual([false, false]);
  clock.advance(1);
  expect(due()).toEqual([true, true]);
  expect(due()).toEqual([false, false]);
});

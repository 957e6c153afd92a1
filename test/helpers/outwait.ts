import { expect } from 'vitest';
import { type FakeClock, settle } from '../fakes/clock.ts';
import { eventually } from './eventually.ts';

/** Moves `clock` on until `waiting` is over, whatever it asks the system in between. Settles as `waiting` does. */
export async function outwait<T>(clock: FakeClock, waiting: Promise<T>, stepMs = 1000): Promise<T> {
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  waiting.then(over, over);
  await eventually(async () => {
    clock.advance(stepMs);
    await settle();
    expect(isOver).toBe(true);
  });
  return waiting;
}

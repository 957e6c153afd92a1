import { expect, it } from 'vitest';
import { watchSilence } from '../../src/listening/silence-watch.ts';
import { FakeClock } from '../fakes/clock.ts';

it('tells once that nothing came for so long, and nothing when the session is over before', () => {
  const clock = new FakeClock();
  const told: string[] = [];
  const watch = (timeoutMs: number) =>
    watchSilence({ clock, timeoutMs, onIdle: ({ code }) => void told.push(`${code} ${timeoutMs}`) });
  const first = watch(1000);
  const second = watch(1500);
  clock.advance(900);
  first.note();
  second.close();
  clock.advance(900);
  expect(told).toEqual([]);
  clock.advance(5000);
  expect(told).toEqual(['media_timeout 1000']);
});

it('sets no timer for a message', () => {
  const clock = new FakeClock();
  const watch = watchSilence({ clock, timeoutMs: 1000, onIdle: () => undefined });
  clock.after = () => {
    throw new Error('another timer was set');
  };
  expect(() => watch.note()).not.toThrow();
});

import { expect, it } from 'vitest';
import { RequestPlaces } from '../../../src/engine-client/remote/request-places.ts';
import { FakeClock } from '../../fakes/clock.ts';

it('are as many as were allowed, half of them for recordings', () => {
  const places = new RequestPlaces(new FakeClock(), 4);
  places.take(true);
  places.take(true);
  expect([places.hasRoom, places.hasBatchRoom]).toEqual([true, false]);
  places.take(false);
  places.take(false);
  expect([places.hasRoom, places.taken]).toEqual([false, 4]);
  places.leave(true);
  expect([places.hasRoom, places.hasBatchRoom]).toEqual([true, true]);
});

it('are kept free for calls as many as these took in the last seconds, but for one', () => {
  const clock = new FakeClock();
  const places = new RequestPlaces(clock, 8);
  for (let n = 0; n < 6; n++) places.take(false);
  for (let n = 0; n < 6; n++) places.leave(false);
  places.take(true);
  expect(places.hasBatchRoom).toBe(true);
  places.take(true);
  expect(places.hasBatchRoom).toBe(false);
  clock.advance(12_000);
  expect(places.hasBatchRoom).toBe(true);
  for (let n = 0; n < 8; n++) places.take(false);
  expect([places.hasRoomForCalls, places.isOverfull, places.hasBatchRoom]).toEqual([false, true, false]);
});

it('have room for calls while recordings have them, which are to give way', () => {
  const places = new RequestPlaces(new FakeClock(), 1);
  places.take(true);
  expect([places.hasRoom, places.hasRoomForCalls, places.isOverfull]).toEqual([false, true, false]);
  places.take(false);
  expect([places.hasRoomForCalls, places.isOverfull]).toEqual([false, true]);
});

it('become fewer for recordings alone where the server refused one of these', () => {
  const clock = new FakeClock();
  const places = new RequestPlaces(clock, 16);
  places.shrink(1000, true);
  expect([places.limit, places.hasRoom, places.hasBatchRoom, places.batchMax]).toEqual([16, true, false, 4]);
  clock.advance(1000);
  expect(places.hasBatchRoom).toBe(true);
  for (let n = 0; n < 40; n++) places.grow(true);
  expect(places.batchMax).toBe(8);
});

it('leave one for recordings where there is only one', () => {
  expect(new RequestPlaces(new FakeClock(), 1).hasBatchRoom).toBe(true);
});

it('become half as many when the server is busy, and more again with its answers', () => {
  const clock = new FakeClock();
  const places = new RequestPlaces(clock, 8);
  places.shrink(0);
  places.shrink(0);
  expect(places.limit).toBe(2);
  for (let n = 0; n < 3; n++) places.grow();
  expect(places.limit).toBe(3);
  for (let n = 0; n < 100; n++) places.grow();
  expect(places.limit).toBe(8);
  for (let n = 0; n < 10; n++) places.shrink(0);
  expect(places.limit).toBe(1);
});

it('are closed for a second, for as long as the server says, and never for more than a minute', () => {
  const clock = new FakeClock();
  const places = new RequestPlaces(clock, 8);
  for (const [saidMs, pauseMs] of [[null, 1000] as const, [3000, 3000] as const, [86_400_000, 60_000] as const]) {
    places.shrink(saidMs);
    clock.advance(pauseMs - 1);
    expect(places.hasRoom).toBe(false);
    clock.advance(1);
    expect(places.hasRoom).toBe(true);
  }
});

it('tell what share of them calls took in the last half minute', () => {
  const clock = new FakeClock();
  const places = new RequestPlaces(clock, 8);
  expect(places.liveShare).toBe(0);
  for (let n = 0; n < 4; n++) places.take(false);
  places.take(true);
  clock.advance(300_000);
  expect(places.liveShare).toBeCloseTo(0.5, 3);
  for (let n = 0; n < 4; n++) places.leave(false);
  clock.advance(30_000);
  expect(places.liveShare).toBeCloseTo(0.5 / Math.E, 3);
  places.shrink(0);
  expect(places.liveShare).toBeCloseTo(1 / Math.E, 3);
});

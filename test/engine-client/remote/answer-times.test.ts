import { expect, it } from 'vitest';
import { AnswerTimes, HEDGE_MAX_MS } from '../../../src/engine-client/remote/answer-times.ts';

it('hedges late while too little is known', () => {
  const times = new AnswerTimes();
  for (let n = 0; n < 4; n++) times.note(10, null);
  expect([times.slowMs, times.hedgeMs]).toEqual([null, HEDGE_MAX_MS]);
});

it('hedges at 1.5 times what 95 of 100 answers take, from 300 to 1500 ms', () => {
  const times = new AnswerTimes();
  for (let ms = 1; ms <= 100; ms++) times.note(ms * 4, null);
  expect([times.usualMs, times.slowMs, times.hedgeMs]).toEqual([200, 380, 570]);
  for (let n = 0; n < 100; n++) times.note(20, null);
  expect(times.hedgeMs).toBe(300);
  for (let n = 0; n < 100; n++) times.note(2000, null);
  expect(times.hedgeMs).toBe(1500);
});

it('learns from the last hundred answers alone', () => {
  const times = new AnswerTimes();
  for (let n = 0; n < 100; n++) times.note(5000, null);
  for (let n = 0; n < 100; n++) times.note(400, null);
  expect(times.slowMs).toBe(400);
});

it('tells how long partial captions take beside their cadence', () => {
  const times = new AnswerTimes();
  for (let n = 0; n < 50; n++) times.note(200, 400);
  expect(times.partialShare).toBeCloseTo(0.5, 3);
  for (let n = 0; n < 50; n++) times.note(9000, null);
  expect(times.partialShare).toBeCloseTo(0.5, 3);
});

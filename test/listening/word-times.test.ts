import { expect, it } from 'vitest';
import { concat, silence, spoken } from '../fakes/engine.ts';
import { SessionHarness } from './session-harness.ts';

const WINDOW_MS = 32;

type Words = readonly { readonly text: string; readonly startMs: number; readonly confidence?: number }[];

function wordsOf({ finals }: SessionHarness): Words[] {
  return finals.map(({ event }) => event.words ?? []);
}

function expectNear(foundMs: number | undefined, wantedMs: number): void {
  expect(Math.abs((foundMs ?? -1) - wantedMs)).toBeLessThanOrEqual(WINDOW_MS);
}

/** A recogniser that knows when its words were said: 250 ms from one to the next. */
function openWithTimes(): SessionHarness {
  const harness = new SessionHarness({ wordTimes: true, endpointMs: null });
  harness.engine.hear = ({ samples, timed }) => {
    const onsetMs = samples.findIndex((sample) => sample !== 0) / 16;
    const words = ['One', 'two.'].map((text, index) => ({
      text,
      startMs: onsetMs + 250 * index,
      endMs: onsetMs + 250 * index + 200,
      probability: index === 0 ? 0.99 : 0.3,
    }));
    return { text: 'One two.', ...(timed === true && { words }) };
  };
  return harness;
}

it('finals say when their words were spoken, as the recogniser does, and go on in time behind a flush', async () => {
  const harness = openWithTimes();
  await harness.say(concat(silence(500), spoken([1, 2])));
  harness.session.flush();
  await harness.say(concat(silence(550), spoken([3, 4])));
  await harness.end();
  const [first = [], second = []] = wordsOf(harness);
  expect([first, second].map((words) => words.map(({ text }) => text))).toEqual([
    ['One', 'two.'],
    ['One', 'two.'],
  ]);
  for (const [found, wantedMs] of [
    [first[0], 500],
    [first[1], 750],
    [second[0], 1500],
    [second[1], 1750],
  ] as const)
    expectNear(found?.startMs, wantedMs);
  expect(first[0]?.confidence ?? 0).toBeGreaterThan((first[1]?.confidence ?? 1) + 0.2);
});

it('without times of the recogniser a word begins behind the pause before it', async () => {
  const harness = new SessionHarness({ wordTimes: true, endpointMs: null });
  await harness.say(concat(silence(500), spoken([1]), silence(800), spoken([2])));
  await harness.end();
  const [words = []] = wordsOf(harness);
  expect(words.map(({ text }) => text)).toEqual(['W1', 'w2.']);
  expectNear(words[0]?.startMs, 500);
  expectNear(words[1]?.startMs, 1500);
});

it('partials are never asked for times, nor finals where nobody wants them', async () => {
  const timed = openWithTimes();
  await timed.say(concat(silence(500), spoken([1, 2, 3, 4, 5, 6, 7, 8])));
  await timed.end();
  const partials = timed.engine.transcribed.filter(({ urgency }) => urgency === 'partial');
  expect(partials.length).toBeGreaterThan(0);
  expect(partials.some((request) => request.timed === true)).toBe(false);
  const plain = new SessionHarness();
  await plain.say(concat(silence(500), spoken([1, 2])));
  await plain.end();
  expect([wordsOf(plain), plain.engine.transcribed.some((request) => request.timed === true)]).toEqual([[[]], false]);
});

import { describe, expect, it } from 'vitest';
import type { FeedEvent } from '../../../src/calls/feed/events.ts';
import { type Capacity, evaluate } from '../../../src/cli/capacity/measure.ts';
import { stepLine, sumUp } from '../../../src/cli/capacity.ts';

const SETTINGS = { ENDPOINT_CAPTIONS_MS: 400, POST_ROLL_MS: 100, MAX_CALLS: 40 };

/** A final that comes `lateMs` after the endpoint silence. */
function final(lateMs: number, utterance = 1): FeedEvent[] {
  const of = { callId: 'CA1', track: 'inbound' } as const;
  const [startMs, endMs] = [utterance * 5000, utterance * 5000 + 2000];
  const words = { stable: 'Yes.', tail: '', text: 'Yes.', final: true };
  return [
    { type: 'speech.stopped', ...of, atMs: endMs },
    { type: 'caption', ...of, utterance, ...words, startMs, endMs, lagMs: lateMs + 300 },
  ];
}

const GAP: FeedEvent = { type: 'gap', callId: 'CA1', track: 'inbound', startMs: 0, endMs: 900, reason: 'overload' };
const found = (events: readonly FeedEvent[], over = {}) =>
  evaluate({ calls: 4, refused: 0, allEnded: true, events, fellBack: null, ...over }, SETTINGS);

describe('a number of calls', () => {
  it('is held when its finals come in time', () => {
    const inTime = [0, 40, 300].flatMap((lateMs, index) => final(lateMs, index + 1));
    expect(found(inTime)).toMatchObject({
      calls: 4,
      finals: 3,
      lateP50Ms: 40,
      lateP95Ms: 300,
      gaps: 0,
      refused: 0,
      held: true,
    });
  });

  it.each([
    ['its finals come too late', found(final(301))],
    ['one is missing', found([...final(0), GAP])],
    ['a call is refused', found(final(0), { refused: 1 })],
    ['calls do not come to their end', found(final(0), { allEnded: false })],
    ['nothing at all was heard', found([])],
  ])('is not held when %s', (_, step) => {
    expect(step.held).toBe(false);
  });
});

describe('with a second recogniser', () => {
  const finals = Array.from({ length: 20 }, (_, index) => final(0, index + 1)).flat();

  it('a tenth of the finals may be by the first one', () => {
    expect(found(finals, { fellBack: 2 })).toMatchObject({ fallbackShare: 0.1, held: true });
    expect(found(finals, { fellBack: 3 })).toMatchObject({ fallbackShare: 0.15, held: false });
  });

  it('a line says how many were', () => {
    expect(stepLine(found(finals, { fellBack: 3 }))).toMatch(/^ +4 +20 +0 +– +15 % {2}too many: too many fell back$/);
    expect(stepLine({ ...found(finals, { fellBack: 3, refused: 1000 }) }).length).toBeLessThanOrEqual(80);
    expect(stepLine(found(finals))).toMatch(/^ +4 +20 +0 +–$/);
  });
});

describe('what it comes to', () => {
  const [good, bad] = [found(final(63)), { ...found(final(900)), calls: 10 }];
  const tiny = { models: { live: 'moonshine-tiny', final: null }, fallbackMaxShare: 0.1 };
  const two = { ...tiny, models: { live: 'moonshine-tiny', final: '/srv/models/parakeet-tdt-0.6b-v3' } };
  const say = (capacity: Capacity) => {
    const lines = sumUp(capacity, SETTINGS);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    return lines.join(' ');
  };

  it('is how many calls to allow, with which model, and what was measured', () => {
    const text = say({ ...tiny, calls: 4, isLimit: true, steps: [good, bad, bad] });
    expect(text).toContain(
      'This machine holds 4 calls with moonshine-tiny: 95 % of the finals came at most 63 ms after the 400 ms of ' +
        'silence',
    );
    expect(text).toContain('Set MAX_CALLS=4 or less (it is 40 now)');
    expect(text).toContain('the simulated callers ran on this machine too');
  });

  it('does not claim more than was tried', () => {
    expect(say({ ...tiny, calls: 4, isLimit: false, steps: [good] })).toContain('holds at least 4 calls');
    expect(say({ ...tiny, calls: 0, isLimit: true, steps: [bad, bad] })).toContain('does not hold 10 calls');
  });

  it('says how many finals the second recogniser did not write, and when it is too large', () => {
    const text = say({ ...two, calls: 4, isLimit: false, steps: [{ ...good, fallbackShare: 0.04 }] });
    expect(text).toContain('with moonshine-tiny and finals by /srv/models/parakeet-tdt-0.6b-v3');
    expect(text).toContain('4 % of them fell back to moonshine-tiny.');
    const large = say({ ...two, calls: 0, isLimit: true, steps: [{ ...good, held: false, fallbackShare: 0.6 }] });
    expect(large).toContain(
      'This machine is too small for /srv/models/parakeet-tdt-0.6b-v3: with 4 calls 60 % of the finals fell back to ' +
        'moonshine-tiny; at most 10 % may. Choose a smaller ASR_FINAL_MODEL',
    );
  });
});

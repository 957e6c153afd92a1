import { describe, expect, it } from 'vitest';
import type { FeedEvent } from '../../../src/calls/feed/events.ts';
import { evaluate } from '../../../src/cli/capacity/measure.ts';
import { sumUp } from '../../../src/cli/capacity.ts';

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
  evaluate({ calls: 4, refused: 0, allEnded: true, events, ...over }, SETTINGS);

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

describe('what it comes to', () => {
  const [good, bad] = [found(final(63)), { ...found(final(900)), calls: 10 }];

  it('is how many calls to allow, and what was measured', () => {
    const text = sumUp({ calls: 4, isLimit: true, steps: [good, bad, bad] }, SETTINGS).join('\n');
    expect(text).toContain(
      'This machine holds 4 calls: 95 % of the finals came at most 63 ms after the 400 ms of silence',
    );
    expect(text).toContain('Set MAX_CALLS=4 or less (it is 40 now)');
    expect(text).toContain('the simulated\ncallers ran on this machine too');
  });

  it('does not claim more than was tried', () => {
    expect(sumUp({ calls: 4, isLimit: false, steps: [good] }, SETTINGS).join('\n')).toContain('holds at least 4 calls');
    expect(sumUp({ calls: 0, isLimit: true, steps: [bad, bad] }, SETTINGS).join('\n')).toContain(
      'does not hold 10 calls',
    );
  });
});

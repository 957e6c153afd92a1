import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { concat, silence, spoken } from '../fakes/engine.ts';
import { type FakeManagedEngine, fakePair } from '../fakes/recogniser-pair.ts';
import { TranscriberHarness } from './transcriber-harness.ts';

const ENDPOINT_MS = 400;
const LATE_MS = 500;
const REST = silence(4000);

let harness: TranscriberHarness;
let live: FakeManagedEngine;
let final: FakeManagedEngine;

function open(settings: ConstructorParameters<typeof TranscriberHarness>[0] = {}): void {
  harness = new TranscriberHarness({
    ...settings,
    engineOn: (clock) => {
      const fakes = fakePair(clock);
      ({ live, final } = fakes);
      return fakes.pair;
    },
  });
}

const texts = () => harness.finals.map(({ text }) => text);
const revised = () => harness.revisions.map(({ utterance, version, text }) => [utterance, version, text]);

beforeEach(() => open());

describe('with two recognisers', () => {
  it('partials are of the first and finals of the second', async () => {
    await harness.say(concat(spoken([1, 2, 3, 4]), silence(1000)));
    expect(harness.partials[0]?.text).toMatch(/^w1/i);
    expect(texts()).toEqual(['W1 W2 W3 W4.']);
    expect(live.of('final').length + live.of('eager').length).toBe(0);
    expect(final.of('partial')).toEqual([]);
  });

  it('the text so far helps with the final, and its tokens with the next partial alone', async () => {
    const { hear } = live;
    live.hear = (request) => ({ ...hear(request), tokens: [7] });
    await harness.say(concat(spoken([1, 2, 3, 4, 5, 6]), silence(300), spoken([7, 8, 9, 10, 11]), silence(1000)));
    const [eager] = final.of('eager');
    expect([eager?.draft, eager?.draftText]).toEqual([[], expect.stringMatching(/^w1 w2/i)]);
    const drafts = live.of('partial').map(({ draft }) => draft[0]);
    expect(drafts).toContain(7);
    expect(drafts).not.toContain(9);
  });

  it('partials and final of an utterance are one stream, and the next utterance is another one', async () => {
    await harness.say(concat(spoken([1, 2, 3, 4]), silence(1000), spoken([5, 6, 7, 8]), silence(1000)));
    const streams = (from: FakeManagedEngine) => from.transcribed.map(({ stream }) => stream ?? 0);
    const [first, second] = [...new Set(streams(final))];
    expect(new Set(streams(live))).toEqual(new Set([first, second]));
    expect(second).not.toBe(first);
  });
});

describe('a final that the second recogniser cannot read in time', () => {
  it('is of the first, at once after the time that it may take, and is revised', async () => {
    final.transcribeMs = 1500;
    await harness.say(concat(spoken([1, 2]), silence(3000)));
    expect(texts()).toEqual(['W1 w2.']);
    expect(harness.finalsBy[0]?.lagMs).toBeGreaterThanOrEqual(LATE_MS - ENDPOINT_MS);
    expect(harness.finalsBy[0]?.lagMs).toBeLessThanOrEqual(LATE_MS + 50);
    expect(revised()).toEqual([[1, 2, 'W1 W2.']]);
    expect(final.transcribed).toHaveLength(1);
  });

  it('is revised later where that was known beforehand', async () => {
    final.estimateMs = 800;
    await harness.say(concat(spoken([1, 2]), silence(1000)));
    expect(texts()).toEqual(['W1 w2.']);
    expect(harness.finalsBy[0]?.lagMs).toBe(0);
    expect(final.transcribed).toMatchObject([{ urgency: 'partial', timed: true }]);
    expect(revised()).toEqual([[1, 2, 'W1 W2.']]);
  });

  it.each([
    ['no engine is ready', () => (final.estimateMs = null)],
    ['it hangs', () => (final.transcribeMs = Number.MAX_SAFE_INTEGER)],
    ['it fails', () => (final.failure = 'model_failed')],
    ['it is lost again and again', () => (final.failure = 'unavailable')],
  ])('stays where %s', async (_why, arrange) => {
    arrange();
    await harness.say(concat(spoken([1, 2]), REST));
    await harness.end();
    expect([texts(), revised(), harness.lost]).toEqual([['W1 w2.'], [], []]);
  });

  it('is read together with the one after it by the second', async () => {
    open({ settings: { JOIN_MS: 3000 } });
    final.estimateMs = null;
    await harness.say(concat(spoken([1, 2]), silence(900)));
    final.estimateMs = 10;
    await harness.say(concat(spoken([3, 4]), REST));
    expect(texts()).toEqual(['W1 w2.', 'W3 W4.']);
    expect(harness.revisions.find(({ utterance }) => utterance === 1)?.text).toMatch(/^W1/);
  });
});

it('loses nothing and keeps the order, however slow, wrong or absent the second recogniser is', async () => {
  const trouble = fc.record({
    takesMs: fc.constantFrom(0, 50, 400, 900, 2000, 10_000),
    estimateMs: fc.constantFrom(null, 1, 300, 2000),
    failure: fc.constantFrom(null, null, null, 'model_failed', 'unavailable'),
  });
  const cases = fc.asyncProperty(
    fc.array(trouble, { minLength: 1, maxLength: 5 }),
    fc.constantFrom(0, 3000),
    async (troubles, JOIN_MS) => {
      open({ settings: { JOIN_MS } });
      for (const [index, { takesMs, estimateMs, failure }] of troubles.entries()) {
        final.transcribeMs = takesMs;
        final.estimateMs = estimateMs;
        final.failure = failure as typeof final.failure;
        await harness.say(concat(spoken([2 * index + 1, 2 * index + 2]), silence(700)));
      }
      await harness.end();
      expect(harness.lost).toEqual([]);
      expect(harness.finals.map(({ utterance }) => utterance)).toEqual(troubles.map((_, index) => index + 1));
      for (const { lagMs } of harness.finalsBy) expect(lagMs).toBeLessThanOrEqual(LATE_MS + 50);
      // Without times of words a joint reading may give one to the utterance beside it.
      const said = harness.finals.map(({ utterance, text }) => {
        const last = harness.revisions.findLast((revision) => revision.utterance === utterance);
        return (last?.text ?? text).toLowerCase().replaceAll('.', '');
      });
      expect(said.join(' ')).toBe(troubles.map((_, index) => `w${2 * index + 1} w${2 * index + 2}`).join(' '));
    },
  );
  await fc.assert(cases, { numRuns: 30 });
});

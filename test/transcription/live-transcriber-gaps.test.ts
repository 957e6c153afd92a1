import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { settle } from '../fakes/clock.ts';
import { concat, silence, spoken } from '../fakes/engine.ts';
import { TranscriberHarness } from './transcriber-harness.ts';

const PAUSE = silence(700);
/** The detector examines this much at once: what ends inside of a window ends with it. */
const WINDOW_MS = 32;

describe('speech of which no final can be had', () => {
  it('is a gap when the engine fails at it for good', async () => {
    const harness = new TranscriberHarness({ partials: false, originMs: 1000 });
    await harness.say(concat(silence(320), spoken([1, 2])));
    harness.engine.failure = 'model_failed';
    harness.transcriber.stall(harness.clock.nowMs());
    await harness.clock.run(20_000);
    expect(harness.finals).toEqual([]);
    expect(harness.gaps).toEqual([{ type: 'gap', startMs: 1320, endMs: 1768, reason: 'engine' }]);
    expect(harness.lost).toEqual(['engine']);
  });

  it('is a gap behind the last hypothesis, which the final falls back to', async () => {
    const harness = new TranscriberHarness();
    await harness.say(spoken([1, 2, 3, 4, 5]));
    harness.engine.failure = 'unavailable';
    harness.transcriber.stall(harness.clock.nowMs());
    await harness.clock.run(2000);
    const [final] = harness.finals;
    expect(final).toMatchObject({
      text: harness.partials.at(-1)?.text,
      startMs: 0,
      endMs: harness.partials.at(-1)?.endMs,
    });
    expect(final?.endMs).toBeLessThan(1000);
    expect(harness.gaps).toEqual([{ type: 'gap', startMs: final?.endMs, endMs: 1184, reason: 'engine' }]);
  });

  it('is none where the engine heard all of it, and understood nothing', async () => {
    const harness = new TranscriberHarness();
    harness.engine.hear = () => ({ text: '' });
    await harness.say(concat(spoken([1, 2, 3]), PAUSE));
    await harness.end();
    expect([harness.finals, harness.gaps]).toEqual([[], []]);
  });

  it('is a gap when nobody finds out whether it was speech', async () => {
    const harness = new TranscriberHarness();
    await harness.say(silence(320));
    harness.engine.failure = 'unavailable';
    await harness.say(spoken([1, 2]));
    await harness.end();
    expect(harness.gaps).toEqual([{ type: 'gap', startMs: 320, endMs: 770, reason: 'engine' }]);
    expect(harness.clock.pending).toBe(0);
  });
});

describe('giving up', () => {
  it('tells of everything that was not understood: what is over, what goes on, what was not looked at', async () => {
    const harness = new TranscriberHarness({ partials: false });
    harness.engine.transcribeMs = 100_000;
    await harness.pour(concat(spoken([1, 2]), PAUSE, spoken([3, 4]), PAUSE, spoken([5, 6])));
    const ended = harness.transcriber.end();
    harness.transcriber.giveUp('overload');
    await ended;
    // Nothing is examined while two finals are pending.
    expect(harness.gaps).toMatchObject([
      { startMs: 0, endMs: 448, reason: 'overload' },
      { startMs: 1152, endMs: 1600, reason: 'overload' },
      { startMs: 2048, endMs: 2750, reason: 'overload' },
    ]);
    expect([harness.engine.pending, harness.clock.pending]).toEqual([0, 0]);
    expect(harness.lost).toEqual(['overload', 'overload', 'overload']);
  });

  it('keeps what was understood of the words, ends them with a final, and says nothing afterwards', async () => {
    const harness = new TranscriberHarness();
    await harness.say(spoken([1, 2, 3, 4, 5]));
    harness.engine.transcribeMs = 100_000;
    harness.transcriber.giveUp('shutdown');
    expect(harness.events.slice(-3)).toMatchObject([
      { type: 'speech.stopped' },
      { type: 'caption', final: true, text: harness.partials.at(-1)?.text },
      { type: 'gap', endMs: 1184, reason: 'shutdown' },
    ]);
    const said = harness.events.length;
    await harness.say(spoken([6]));
    await harness.clock.run(5000);
    expect(harness.events).toHaveLength(said);
  });

  it('says nothing when nothing is missing, and only once', async () => {
    const harness = new TranscriberHarness();
    await harness.say(concat(spoken([1, 2]), PAUSE));
    await harness.end();
    harness.transcriber.giveUp('error');
    harness.transcriber.giveUp('error');
    expect([harness.words, harness.gaps]).toEqual([['w1', 'w2'], []]);
  });
});

describe('whatever the engine does', () => {
  it('each moment of speech is in a final or in a gap', async () => {
    const act = fc.constantFrom('speak', 'hush', 'fail', 'break', 'mend', 'slow', 'fast', 'wait', 'stall');
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 20 }), fc.boolean(), async (acts, isPatient) => {
        const harness = new TranscriberHarness();
        const { engine } = harness;
        const speech: { fromMs: number; toMs: number }[] = [];
        let atMs = 0;
        const say = async (audio: Int16Array) => {
          await harness.say(audio);
          atMs += audio.length / 16;
        };
        const doing = {
          speak: async () => {
            speech.push({ fromMs: atMs, toMs: atMs + 450 });
            await say(spoken([1, 2], { gapMs: 50 }));
          },
          hush: () => say(silence(480)),
          fail: () => Object.assign(engine, { failure: 'unavailable' }),
          break: () => Object.assign(engine, { failure: 'model_failed' }),
          mend: () => Object.assign(engine, { failure: null }),
          slow: () => Object.assign(engine, { transcribeMs: 8000 }),
          fast: () => Object.assign(engine, { transcribeMs: 0 }),
          wait: () => harness.clock.run(3000, 100),
          stall: () => harness.transcriber.stall(harness.clock.nowMs()),
        };
        for (const what of acts) await doing[what]();
        if (isPatient) await harness.end();
        else void harness.transcriber.end();
        harness.transcriber.giveUp('overload');
        await settle();
        const told = [...harness.finals, ...harness.gaps];
        for (const { fromMs, toMs } of speech) expect(uncovered(fromMs, toMs, told)).toBeLessThanOrEqual(2 * WINDOW_MS);
        expect(harness.clock.pending).toBe(0);
      }),
      { numRuns: 60 },
    );
  });
});

/** The longest stretch between two times that none of `told` covers, in ms. */
function uncovered(fromMs: number, toMs: number, told: readonly { startMs: number; endMs: number }[]): number {
  let longest = 0;
  let coveredTo = fromMs;
  for (const { startMs, endMs } of told.toSorted((a, b) => a.startMs - b.startMs)) {
    if (startMs >= toMs) break;
    longest = Math.max(longest, startMs - coveredTo);
    coveredTo = Math.max(coveredTo, endMs);
  }
  return Math.max(longest, toMs - coveredTo);
}

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { settle } from '../fakes/clock.ts';
import { concat, silence, spoken } from '../fakes/engine.ts';
import { TranscriberHarness } from './transcriber-harness.ts';

const PAUSE = silence(700);
/** The detector judges this much at once: what ends inside of a window ends with it. */
const WINDOW_MS = 32;

describe('speech of which no final can be had', () => {
  it('is a gap when the engine fails at it for good', async () => {
    const listening = new TranscriberHarness({ partials: false, originMs: 1000 });
    await listening.say(concat(silence(320), spoken([1, 2])));
    listening.engine.failure = 'model_failed';
    listening.transcriber.stall();
    await listening.clock.run(20_000);
    expect(listening.finals).toEqual([]);
    expect(listening.gaps).toEqual([{ type: 'gap', startMs: 1320, endMs: 1768, reason: 'engine' }]);
    expect(listening.lost).toEqual(['engine']);
  });

  it('is a gap behind the last hypothesis, which the final falls back to', async () => {
    const listening = new TranscriberHarness();
    await listening.say(spoken([1, 2, 3, 4, 5]));
    listening.engine.failure = 'unavailable';
    listening.transcriber.stall();
    await listening.clock.run(2000);
    const [final] = listening.finals;
    expect(final).toMatchObject({
      text: listening.partials.at(-1)?.text,
      startMs: 0,
      endMs: listening.partials.at(-1)?.endMs,
    });
    expect(final?.endMs).toBeLessThan(1000);
    expect(listening.gaps).toEqual([{ type: 'gap', startMs: final?.endMs, endMs: 1184, reason: 'engine' }]);
  });

  it('is none where the engine heard all of it, and understood nothing', async () => {
    const listening = new TranscriberHarness();
    listening.engine.hear = () => ({ text: '' });
    await listening.say(concat(spoken([1, 2, 3]), PAUSE));
    await listening.end();
    expect([listening.finals, listening.gaps]).toEqual([[], []]);
  });

  it('is a gap when nobody finds out whether it was speech', async () => {
    const listening = new TranscriberHarness();
    await listening.say(silence(320));
    listening.engine.failure = 'unavailable';
    await listening.say(spoken([1, 2]));
    await listening.end();
    expect(listening.gaps).toEqual([{ type: 'gap', startMs: 320, endMs: 770, reason: 'engine' }]);
    expect(listening.clock.pending).toBe(0);
  });
});

describe('giving up', () => {
  it('tells of everything that was not understood: what is over, what goes on, what was not looked at', async () => {
    const listening = new TranscriberHarness({ partials: false });
    listening.engine.transcribeMs = 100_000;
    await listening.pour(concat(spoken([1, 2]), PAUSE, spoken([3, 4]), PAUSE, spoken([5, 6])));
    const ended = listening.transcriber.end();
    listening.transcriber.giveUp('overload');
    await ended;
    // Nothing is judged while two finals are pending.
    expect(listening.gaps).toMatchObject([
      { startMs: 0, endMs: 448, reason: 'overload' },
      { startMs: 1152, endMs: 1600, reason: 'overload' },
      { startMs: 2048, endMs: 2750, reason: 'overload' },
    ]);
    expect([listening.engine.pending, listening.clock.pending]).toEqual([0, 0]);
    expect(listening.lost).toEqual(['overload', 'overload', 'overload']);
  });

  it('keeps what was understood of the words, ends them with a final, and says nothing afterwards', async () => {
    const listening = new TranscriberHarness();
    await listening.say(spoken([1, 2, 3, 4, 5]));
    listening.engine.transcribeMs = 100_000;
    listening.transcriber.giveUp('shutdown');
    expect(listening.events.slice(-3)).toMatchObject([
      { type: 'speech.stopped' },
      { type: 'caption', final: true, text: listening.partials.at(-1)?.text },
      { type: 'gap', endMs: 1184, reason: 'shutdown' },
    ]);
    const said = listening.events.length;
    await listening.say(spoken([6]));
    await listening.clock.run(5000);
    expect(listening.events).toHaveLength(said);
  });

  it('says nothing when nothing is missing, and only once', async () => {
    const listening = new TranscriberHarness();
    await listening.say(concat(spoken([1, 2]), PAUSE));
    await listening.end();
    listening.transcriber.giveUp('error');
    listening.transcriber.giveUp('error');
    expect([listening.words, listening.gaps]).toEqual([['w1', 'w2'], []]);
  });
});

describe('whatever the engine does', () => {
  it('each moment of speech is in a final or in a gap', async () => {
    const act = fc.constantFrom('speak', 'hush', 'fail', 'break', 'mend', 'slow', 'fast', 'wait', 'stall');
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 20 }), fc.boolean(), async (acts, isPatient) => {
        const listening = new TranscriberHarness();
        const { engine } = listening;
        const speech: { fromMs: number; toMs: number }[] = [];
        let atMs = 0;
        const say = async (audio: Int16Array) => {
          await listening.say(audio);
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
          wait: () => listening.clock.run(3000, 100),
          stall: () => listening.transcriber.stall(),
        };
        for (const what of acts) await doing[what]();
        if (isPatient) await listening.end();
        else void listening.transcriber.end();
        listening.transcriber.giveUp('overload');
        await settle();
        const told = [...listening.finals, ...listening.gaps];
        for (const { fromMs, toMs } of speech) expect(uncovered(fromMs, toMs, told)).toBeLessThanOrEqual(2 * WINDOW_MS);
        expect(listening.clock.pending).toBe(0);
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

/** A ceiling on how late captions may come: what is older becomes a gap, and captions go on behind it. */
import { describe, expect, it } from 'vitest';
import type { TranscribeRequest, Transcript } from '../../src/engine-client/engine.ts';
import type { FakeClock } from '../fakes/clock.ts';
import { settle } from '../fakes/clock.ts';
import { concat, FakeEngine, silence, spoken } from '../fakes/engine.ts';
import { TranscriberHarness } from './transcriber-harness.ts';

const MAX_MS = 10_000;
/** What goes at once when something is too old: a quarter of what may wait. */
const STEP_MS = MAX_MS / 4;
const WINDOW_MS = 32;
const TICK_MS = 250;
const PAUSE = silence(800);

/** Says `seconds` seconds: word after word with pauses, the lag limited a few times a second. */
async function talk(harness: TranscriberHarness, seconds: number): Promise<void> {
  for (let ms = 0; ms < seconds * 1000; ms += TICK_MS) {
    await harness.say(silence(TICK_MS));
    harness.transcriber.limitLag(MAX_MS);
  }
}

/** Answers nothing while it stands still, as an engine does that gets no CPU. */
class StillEngine extends FakeEngine {
  isStill = false;
  readonly #waiting: (() => void)[] = [];

  override async detect(...given: Parameters<FakeEngine['detect']>): ReturnType<FakeEngine['detect']> {
    await this.#turn();
    return super.detect(...given);
  }

  override async transcribe(request: TranscribeRequest): Promise<Transcript> {
    await this.#turn();
    return super.transcribe(request);
  }

  goOn(): void {
    this.isStill = false;
    for (const go of this.#waiting.splice(0)) go();
  }

  #turn(): Promise<void> {
    return this.isStill ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve();
  }
}

function standStill(): { harness: TranscriberHarness; engine: StillEngine } {
  let engine: StillEngine | null = null;
  const harness = new TranscriberHarness({
    engineOn: (clock: FakeClock) => {
      engine = new StillEngine(clock);
      return engine;
    },
  });
  if (engine === null) throw new Error('no engine was opened');
  return { harness, engine };
}

describe('audio that nobody examined', () => {
  it('loses nothing below the ceiling', async () => {
    const { harness, engine } = standStill();
    engine.isStill = true;
    await harness.say(concat(spoken([1, 2]), PAUSE));
    await talk(harness, 8);
    engine.goOn();
    await talk(harness, 1);
    expect([harness.words, harness.gaps]).toEqual([['w1', 'w2'], []]);
  });

  it('becomes a gap beyond it, in long stretches, and finals go on behind', async () => {
    const { harness, engine } = standStill();
    await harness.say(concat(spoken([1, 2]), PAUSE));
    const spokenMs = harness.clock.nowMs();
    engine.isStill = true;
    await talk(harness, 15);
    engine.goOn();
    await settle();
    await harness.say(concat(spoken([3, 4]), PAUSE));
    await harness.end();
    expect(harness.words).toEqual(['w1', 'w2', 'w3', 'w4']);
    expect(harness.gaps.length).toBeGreaterThan(1);
    let toMs = harness.gaps[0]?.startMs ?? 0;
    for (const { startMs, endMs, reason } of harness.gaps) {
      expect([startMs, reason]).toEqual([toMs, 'overload']);
      expect(endMs - startMs).toBeGreaterThanOrEqual(STEP_MS - WINDOW_MS);
      toMs = endMs;
    }
    // Never more is given up than is too old, and a step.
    expect(toMs).toBeLessThanOrEqual(spokenMs + 15_000 - MAX_MS + STEP_MS + TICK_MS);
    expect(harness.lost).toEqual(harness.gaps.map(() => 'overload'));
  });

  it('keeps the words of the utterance that was running, with its final before the gap', async () => {
    const { harness, engine } = standStill();
    await harness.say(spoken([1, 2, 3, 4]));
    const [read] = harness.partials.slice(-1);
    expect(read?.text).toMatch(/w1/i);
    engine.isStill = true;
    await harness.say(spoken([5, 6]));
    await talk(harness, 11);
    const [final] = harness.finals;
    expect(final).toMatchObject({ text: read?.text, startMs: 0 });
    expect(harness.gaps[0]).toMatchObject({ startMs: final?.endMs, reason: 'overload' });
    // The rest of the utterance and what was not examined follow one another.
    expect(Math.abs((harness.gaps[1]?.startMs ?? 0) - (harness.gaps[0]?.endMs ?? 0))).toBeLessThanOrEqual(WINDOW_MS);
  });

  it('is told as the failure of the engines where they fail', async () => {
    const harness = new TranscriberHarness();
    harness.engine.failure = 'unavailable';
    await talk(harness, 11);
    expect(harness.gaps).toMatchObject([{ startMs: 0, reason: 'engine' }]);
  });

  it('is bounded: what waits is never more than the ceiling', async () => {
    const { harness, engine } = standStill();
    engine.isStill = true;
    for (let second = 0; second < 60; second++) {
      await talk(harness, 1);
      expect(harness.transcriber.backlogMs).toBeLessThanOrEqual(MAX_MS + TICK_MS);
      expect(harness.transcriber.lagMs).toBeLessThanOrEqual(MAX_MS + TICK_MS);
    }
  });
});

describe('finals that do not come', () => {
  it('are given up beyond the ceiling, the oldest first, while younger ones still come', async () => {
    const harness = new TranscriberHarness({ partials: false });
    harness.engine.transcribeMs = 100_000;
    await harness.say(concat(spoken([1, 2]), PAUSE));
    harness.engine.transcribeMs = 9000;
    await talk(harness, 6);
    await harness.say(concat(spoken([3, 4]), PAUSE));
    await talk(harness, 9);
    expect(harness.gaps).toMatchObject([{ startMs: 0, endMs: 448, reason: 'overload' }]);
    expect(harness.words).toEqual(['w3', 'w4']);
    expect(harness.engine.pending).toBe(0);
  });
});

describe('sound that comes faster than real time', () => {
  it('is known by what waits beyond the time since it came', async () => {
    const { harness, engine } = standStill();
    engine.isStill = true;
    await harness.say(silence(4000));
    expect(harness.transcriber.aheadMs).toBeLessThanOrEqual(WINDOW_MS + 20);
    await harness.pour(silence(3000));
    expect(harness.transcriber.aheadMs).toBeGreaterThan(2900);
    await harness.clock.run(2000);
    expect(harness.transcriber.aheadMs).toBeLessThan(1100);
  });
});

import { describe, expect, it } from 'vitest';
import { EngineError } from '../../src/engine-client/engine.ts';
import { BACKLOG_LOW_MS } from '../../src/transcription/live-transcriber.ts';
import { settle } from '../fakes/clock.ts';
import { concat, silence, spoken, written } from '../fakes/engine.ts';
import { TranscriberHarness } from './transcriber-harness.ts';

const PAUSE = silence(700);
const WORDS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
const asText = (words: readonly number[]): string[] => words.map((word) => `w${word}`);

describe('a slow engine', () => {
  it('costs partials, never finals', async () => {
    const harness = new TranscriberHarness();
    harness.engine.transcribeMs = 1500;
    await harness.say(concat(spoken(WORDS), PAUSE, spoken([11, 12]), PAUSE));
    await harness.end();
    expect(harness.words).toEqual(asText([...WORDS, 11, 12]));
    expect(harness.dropped).toBeGreaterThan(0);
  });

  it('has one partial in flight and one waiting at most, and the waiting one is the newest', async () => {
    const harness = new TranscriberHarness();
    harness.engine.transcribeMs = 1100;
    await harness.say(spoken(WORDS));
    const lengthsMs = harness.engine.of('partial').map(({ samples }) => Math.round(samples.length / 16));
    // Due at 400, 800, 1200 … ms of speech: while the first was decoded, 800 was replaced by 1200.
    expect(lengthsMs.map((length) => Math.round(length / 400))).toEqual([1, 3]);
    expect(harness.dropped).toBeGreaterThanOrEqual(1);
  });

  it('stretches the cadence of long windows when it is busy', async () => {
    const harness = new TranscriberHarness();
    harness.engine.load = 0.9;
    await harness.say(spoken(Array.from({ length: 40 }, (_, n) => n + 1)));
    const endsMs = harness.engine.of('partial').map(({ samples }) => samples.length / 16);
    const steps = endsMs.slice(1).map((end, n) => [end, end - (endsMs[n] ?? 0)] as const);
    for (const [end, step] of steps) expect(step).toBeGreaterThanOrEqual(end > 8000 ? 1200 : end > 4000 ? 800 : 400);
    expect(steps.length).toBeGreaterThan(10);
  });

  it('examines no more audio while two finals are pending, so that the backlog shows it', async () => {
    const harness = new TranscriberHarness({ partials: false });
    harness.engine.transcribeMs = 10_000;
    const turn = concat(spoken([1, 2, 3]), PAUSE);
    await harness.pour(concat(turn, turn, turn, turn, turn));
    expect(harness.engine.transcribed.length).toBeLessThanOrEqual(2);
    expect(harness.transcriber.backlogMs).toBeGreaterThan(3000);
    await harness.end();
    expect(harness.finals).toHaveLength(5);
    expect(harness.transcriber.backlogMs).toBe(0);
  });

  it('tells when a backlog has been worked off, once each time', async () => {
    const harness = new TranscriberHarness();
    const backlogsMs: number[] = [];
    harness.transcriber.onDrained(() => backlogsMs.push(harness.transcriber.backlogMs));
    harness.engine.detectMs = 5;
    await harness.say(silence(500));
    expect(backlogsMs).toEqual([]);
    harness.transcriber.push(silence(3000));
    expect(harness.transcriber.backlogMs).toBeGreaterThan(BACKLOG_LOW_MS);
    await harness.clock.run(100);
    expect(backlogsMs).toHaveLength(1);
    expect(backlogsMs[0]).toBeLessThanOrEqual(BACKLOG_LOW_MS);
  });

  it('is asked for no more than 32 windows at once', async () => {
    const harness = new TranscriberHarness();
    await harness.pour(silence(5000));
    expect(Math.max(...harness.engine.detected.map(({ samples }) => samples.length / 512))).toBe(32);
  });

  it('takes a gap of two minutes filled with silence, and refuses more with a coded error', () => {
    const harness = new TranscriberHarness();
    harness.transcriber.push(silence(120_000));
    expect(() => harness.transcriber.push(silence(120_000))).toThrow(
      expect.objectContaining({ code: 'audio_too_fast' }),
    );
  });
});

describe('an engine that is away', () => {
  it('loses no word when it comes back', async () => {
    const harness = new TranscriberHarness();
    await harness.say(spoken([1, 2, 3]));
    harness.engine.failure = 'unavailable';
    await harness.say(concat(spoken([4, 5]), PAUSE, spoken([6, 7, 8])));
    expect(harness.finals).toEqual([]);
    expect(harness.transcriber.backlogMs).toBeGreaterThan(1000);
    harness.engine.failure = null;
    await harness.say(concat(spoken([9]), PAUSE));
    await harness.end();
    expect(harness.words).toEqual(asText([1, 2, 3, 4, 5, 6, 7, 8, 9]));
    expect(harness.transcriber.backlogMs).toBe(0);
  });

  it('is asked again with growing patience', async () => {
    const harness = new TranscriberHarness();
    harness.engine.failure = 'unavailable';
    await harness.say(silence(40));
    await harness.clock.run(7000);
    // After 100, 200, 400, 800, 1600 and then every 2000 ms.
    expect(harness.engine.detected).toHaveLength(7);
  });

  it('is asked with a fresh state when the detector itself keeps failing', async () => {
    const harness = new TranscriberHarness();
    await harness.say(silence(64));
    harness.engine.failure = 'model_failed';
    await harness.say(silence(40));
    await harness.clock.run(1000);
    expect(harness.engine.detected.slice(2).map(({ state }) => state?.[0] ?? null)).toEqual([2, 2, 2, null]);
  });

  it('gets the final again and again, and it falls back to the last hypothesis in the end', async () => {
    const harness = new TranscriberHarness();
    await harness.say(spoken([1, 2, 3, 4, 5]));
    const known = harness.partials.at(-1)?.text;
    harness.engine.failure = 'unavailable';
    harness.transcriber.stall(harness.clock.nowMs());
    await settle();
    await harness.clock.run(2000);
    expect(harness.finals).toEqual([expect.objectContaining({ text: known, stable: known, tail: '' })]);
    expect(harness.finalsBy).toEqual([{ how: 'fallback', lagMs: 1500 }]);
  });

  it('gets a final without any hypothesis for longer', async () => {
    const harness = new TranscriberHarness({ partials: false });
    await harness.say(spoken([1, 2]));
    harness.engine.failure = 'unavailable';
    harness.transcriber.stall(harness.clock.nowMs());
    await harness.clock.run(10_000);
    harness.engine.failure = null;
    await harness.clock.run(2000);
    expect(harness.words).toEqual(['w1', 'w2']);
    expect(harness.finalsBy.map(({ how }) => how)).toEqual(['fresh']);
  });

  it('costs partials that fail, and they are counted', async () => {
    const harness = new TranscriberHarness();
    harness.engine.hear = ({ urgency }) => {
      if (urgency === 'partial') throw new EngineError('stale', 'not begun in time');
      return { text: 'All of it.' };
    };
    await harness.say(concat(spoken([1, 2, 3, 4]), PAUSE));
    expect(harness.dropped).toBe(2);
    expect(harness.captions.map(({ text }) => text)).toEqual(['All of it.', 'All of it.']);
  });

  it('does not keep an ended track waiting for ever', async () => {
    const harness = new TranscriberHarness();
    await harness.say(spoken([1, 2, 3]));
    harness.engine.failure = 'unavailable';
    await harness.say(spoken([4]));
    await harness.end();
    expect(harness.finals).toHaveLength(1);
    expect(harness.clock.nowMs()).toBeLessThan(40_000);
    expect(harness.clock.pending).toBe(0);
  });
});

describe('the end of the audio', () => {
  it('gives the final of an utterance in the middle of speech', async () => {
    const harness = new TranscriberHarness();
    await harness.say(spoken(WORDS));
    await harness.end();
    expect(harness.words).toEqual(asText(WORDS));
    expect(harness.events.at(-2)).toEqual({ type: 'speech.stopped', atMs: 2450 });
  });

  it('reads a last part shorter than one detector window', async () => {
    const harness = new TranscriberHarness();
    harness.engine.hear = ({ samples }) => ({ text: `${samples.length} samples` });
    await harness.pour(spoken([10], { wordMs: 100 }));
    await harness.end();
    expect(harness.finals[0]).toMatchObject({ text: '1600 samples', endMs: 100 });
  });

  it('comes at once when nothing was said', async () => {
    const harness = new TranscriberHarness();
    await harness.transcriber.end();
    expect(harness.events).toEqual([]);
  });

  it('ignores audio that comes after it', async () => {
    const harness = new TranscriberHarness();
    await harness.transcriber.end();
    await harness.say(concat(spoken([1, 2]), PAUSE));
    expect(harness.engine.detected).toEqual([]);
  });

  it('resolves only when the last final is out, and in order', async () => {
    const harness = new TranscriberHarness();
    harness.engine.transcribeMs = 900;
    await harness.say(concat(spoken([1, 2, 3]), PAUSE));
    harness.engine.transcribeMs = 10;
    await harness.say(spoken([4]));
    expect(harness.finals).toEqual([]);
    await harness.end();
    expect(harness.finals.map(({ utterance, text }) => [utterance, text])).toEqual([
      [1, written([1, 2, 3])],
      [2, written([4])],
    ]);
  });
});

describe('a stall', () => {
  it('ends the utterance with the audio there is, and a new one may follow', async () => {
    const harness = new TranscriberHarness();
    await harness.say(spoken([1, 2, 3]));
    harness.transcriber.stall(harness.clock.nowMs());
    await settle();
    expect(harness.finals.map(({ text }) => text)).toEqual([written([1, 2, 3])]);
    await harness.say(concat(spoken([4, 5]), PAUSE));
    expect(harness.words).toEqual(asText([1, 2, 3, 4, 5]));
  });

  it('changes nothing in silence', async () => {
    const harness = new TranscriberHarness();
    await harness.say(silence(200));
    harness.transcriber.stall(harness.clock.nowMs());
    await settle();
    expect(harness.events).toEqual([]);
  });

  it('waits until the audio there is has been examined', async () => {
    const harness = new TranscriberHarness();
    harness.engine.detectMs = 50;
    harness.transcriber.push(spoken([1, 2, 3]));
    harness.transcriber.stall(harness.clock.nowMs());
    await settle();
    expect(harness.finals).toEqual([]);
    await harness.clock.run(200);
    expect(harness.finals.map(({ text }) => text)).toEqual([written([1, 2, 3])]);
  });

  it('is forgotten when audio comes before that', async () => {
    const harness = new TranscriberHarness();
    harness.engine.detectMs = 50;
    harness.transcriber.push(spoken([1, 2]));
    harness.transcriber.stall(harness.clock.nowMs());
    harness.transcriber.push(concat(silence(50), spoken([3, 4])));
    await harness.clock.run(500);
    expect(harness.finals).toEqual([]);
    await harness.end();
    expect(harness.words).toEqual(asText([1, 2, 3, 4]));
  });
});

describe('closing', () => {
  it('aborts every transcription, leaves no timer and says nothing more', async () => {
    const harness = new TranscriberHarness();
    harness.engine.transcribeMs = 5000;
    await harness.say(concat(spoken([1, 2, 3]), PAUSE, spoken([4, 5, 6]), silence(240)));
    // The final of the first utterance, a partial and the eager decode of the second.
    expect(harness.engine.pending).toBe(3);
    const said = harness.events.length;
    const ended = harness.transcriber.end();
    harness.transcriber.close();
    await ended;
    await settle();
    expect(harness.engine.pending).toBe(0);
    expect(harness.clock.pending).toBe(0);
    await harness.clock.run(5000);
    expect(harness.events).toHaveLength(said);
  });

  it('stops asking an engine that is away', async () => {
    const harness = new TranscriberHarness();
    harness.engine.failure = 'unavailable';
    await harness.say(spoken([1, 2]));
    harness.transcriber.close();
    await settle();
    expect(harness.clock.pending).toBe(0);
    const asked = harness.engine.detected.length;
    await harness.clock.run(10_000);
    expect(harness.engine.detected).toHaveLength(asked);
  });

  it('gives up a final that is being tried again', async () => {
    const harness = new TranscriberHarness();
    await harness.say(spoken([1, 2, 3]));
    harness.engine.failure = 'unavailable';
    const ended = harness.transcriber.end();
    await harness.clock.run(150);
    harness.transcriber.close();
    await ended;
    expect(harness.finals).toEqual([]);
    expect(harness.clock.pending).toBe(0);
  });

  it('ignores audio and an end that come after it', async () => {
    const harness = new TranscriberHarness();
    harness.transcriber.close();
    await harness.say(concat(spoken([1, 2]), PAUSE));
    await harness.transcriber.end();
    expect([harness.events, harness.engine.detected]).toEqual([[], []]);
  });
});

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
    const listening = new TranscriberHarness();
    listening.engine.transcribeMs = 1500;
    await listening.say(concat(spoken(WORDS), PAUSE, spoken([11, 12]), PAUSE));
    await listening.end();
    expect(listening.words).toEqual(asText([...WORDS, 11, 12]));
    expect(listening.dropped).toBeGreaterThan(0);
  });

  it('has one partial in flight and one waiting at most, and the waiting one is the newest', async () => {
    const listening = new TranscriberHarness();
    listening.engine.transcribeMs = 1100;
    await listening.say(spoken(WORDS));
    const lengthsMs = listening.engine.of('partial').map(({ samples }) => Math.round(samples.length / 16));
    // Due at 400, 800, 1200 … ms of speech: while the first was decoded, 800 was replaced by 1200.
    expect(lengthsMs.map((length) => Math.round(length / 400))).toEqual([1, 3]);
    expect(listening.dropped).toBeGreaterThanOrEqual(1);
  });

  it('stretches the cadence of long windows when it is busy', async () => {
    const listening = new TranscriberHarness();
    listening.engine.load = 0.9;
    await listening.say(spoken(Array.from({ length: 40 }, (_, n) => n + 1)));
    const endsMs = listening.engine.of('partial').map(({ samples }) => samples.length / 16);
    const steps = endsMs.slice(1).map((end, n) => [end, end - (endsMs[n] ?? 0)] as const);
    for (const [end, step] of steps) expect(step).toBeGreaterThanOrEqual(end > 8000 ? 1200 : end > 4000 ? 800 : 400);
    expect(steps.length).toBeGreaterThan(10);
  });

  it('judges no further while two finals are pending, so that the backlog shows it', async () => {
    const listening = new TranscriberHarness({ partials: false });
    listening.engine.transcribeMs = 10_000;
    const turn = concat(spoken([1, 2, 3]), PAUSE);
    await listening.pour(concat(turn, turn, turn, turn, turn));
    expect(listening.engine.transcribed.length).toBeLessThanOrEqual(2);
    expect(listening.transcriber.backlogMs).toBeGreaterThan(3000);
    await listening.end();
    expect(listening.finals).toHaveLength(5);
    expect(listening.transcriber.backlogMs).toBe(0);
  });

  it('tells when a backlog has been worked off, once each time', async () => {
    const listening = new TranscriberHarness();
    const backlogsMs: number[] = [];
    listening.transcriber.onDrained(() => backlogsMs.push(listening.transcriber.backlogMs));
    listening.engine.detectMs = 5;
    await listening.say(silence(500));
    expect(backlogsMs).toEqual([]);
    listening.transcriber.push(silence(3000));
    expect(listening.transcriber.backlogMs).toBeGreaterThan(BACKLOG_LOW_MS);
    await listening.clock.run(100);
    expect(backlogsMs).toHaveLength(1);
    expect(backlogsMs[0]).toBeLessThanOrEqual(BACKLOG_LOW_MS);
  });

  it('is asked for no more than 32 windows at once', async () => {
    const listening = new TranscriberHarness();
    await listening.pour(silence(5000));
    expect(Math.max(...listening.engine.detected.map(({ samples }) => samples.length / 512))).toBe(32);
  });

  it('takes a gap of two minutes filled with silence, and refuses more with a coded error', () => {
    const listening = new TranscriberHarness();
    listening.transcriber.push(silence(120_000));
    expect(() => listening.transcriber.push(silence(120_000))).toThrow(
      expect.objectContaining({ code: 'audio_too_fast' }),
    );
  });
});

describe('an engine that is away', () => {
  it('loses no word when it comes back', async () => {
    const listening = new TranscriberHarness();
    await listening.say(spoken([1, 2, 3]));
    listening.engine.failure = 'unavailable';
    await listening.say(concat(spoken([4, 5]), PAUSE, spoken([6, 7, 8])));
    expect(listening.finals).toEqual([]);
    expect(listening.transcriber.backlogMs).toBeGreaterThan(1000);
    listening.engine.failure = null;
    await listening.say(concat(spoken([9]), PAUSE));
    await listening.end();
    expect(listening.words).toEqual(asText([1, 2, 3, 4, 5, 6, 7, 8, 9]));
    expect(listening.transcriber.backlogMs).toBe(0);
  });

  it('is asked again with growing patience', async () => {
    const listening = new TranscriberHarness();
    listening.engine.failure = 'unavailable';
    await listening.say(silence(40));
    await listening.clock.run(7000);
    // After 100, 200, 400, 800, 1600 and then every 2000 ms.
    expect(listening.engine.detected).toHaveLength(7);
  });

  it('is asked with a fresh state when the detector itself keeps failing', async () => {
    const listening = new TranscriberHarness();
    await listening.say(silence(64));
    listening.engine.failure = 'model_failed';
    await listening.say(silence(40));
    await listening.clock.run(1000);
    expect(listening.engine.detected.slice(2).map(({ state }) => state?.[0] ?? null)).toEqual([2, 2, 2, null]);
  });

  it('gets the final again and again, and it falls back to the last hypothesis in the end', async () => {
    const listening = new TranscriberHarness();
    await listening.say(spoken([1, 2, 3, 4, 5]));
    const known = listening.partials.at(-1)?.text;
    listening.engine.failure = 'unavailable';
    listening.transcriber.stall();
    await settle();
    await listening.clock.run(2000);
    expect(listening.finals).toEqual([expect.objectContaining({ text: known, stable: known, tail: '' })]);
    expect(listening.finalsBy).toEqual([{ how: 'fallback', lagMs: 1500 }]);
  });

  it('gets a final without any hypothesis for longer', async () => {
    const listening = new TranscriberHarness({ partials: false });
    await listening.say(spoken([1, 2]));
    listening.engine.failure = 'unavailable';
    listening.transcriber.stall();
    await listening.clock.run(10_000);
    listening.engine.failure = null;
    await listening.clock.run(2000);
    expect(listening.words).toEqual(['w1', 'w2']);
    expect(listening.finalsBy.map(({ how }) => how)).toEqual(['fresh']);
  });

  it('costs partials that fail, and they are counted', async () => {
    const listening = new TranscriberHarness();
    listening.engine.hear = ({ urgency }) => {
      if (urgency === 'partial') throw new EngineError('stale', 'not begun in time');
      return { text: 'All of it.' };
    };
    await listening.say(concat(spoken([1, 2, 3, 4]), PAUSE));
    expect(listening.dropped).toBe(2);
    expect(listening.captions.map(({ text }) => text)).toEqual(['All of it.', 'All of it.']);
  });

  it('does not keep an ended track waiting for ever', async () => {
    const listening = new TranscriberHarness();
    await listening.say(spoken([1, 2, 3]));
    listening.engine.failure = 'unavailable';
    await listening.say(spoken([4]));
    await listening.end();
    expect(listening.finals).toHaveLength(1);
    expect(listening.clock.nowMs()).toBeLessThan(40_000);
    expect(listening.clock.pending).toBe(0);
  });
});

describe('the end of the audio', () => {
  it('gives the final of an utterance in the middle of speech', async () => {
    const listening = new TranscriberHarness();
    await listening.say(spoken(WORDS));
    await listening.end();
    expect(listening.words).toEqual(asText(WORDS));
    expect(listening.events.at(-2)).toEqual({ type: 'speech.stopped', atMs: 2450 });
  });

  it('hears a last piece shorter than one detector window', async () => {
    const listening = new TranscriberHarness();
    listening.engine.hear = ({ samples }) => ({ text: `${samples.length} samples` });
    await listening.pour(spoken([10], { wordMs: 100 }));
    await listening.end();
    expect(listening.finals[0]).toMatchObject({ text: '1600 samples', endMs: 100 });
  });

  it('comes at once when nothing was said', async () => {
    const listening = new TranscriberHarness();
    await listening.transcriber.end();
    expect(listening.events).toEqual([]);
  });

  it('ignores audio that comes after it', async () => {
    const listening = new TranscriberHarness();
    await listening.transcriber.end();
    await listening.say(concat(spoken([1, 2]), PAUSE));
    expect(listening.engine.detected).toEqual([]);
  });

  it('resolves only when the last final is out, and in order', async () => {
    const listening = new TranscriberHarness();
    listening.engine.transcribeMs = 900;
    await listening.say(concat(spoken([1, 2, 3]), PAUSE));
    listening.engine.transcribeMs = 10;
    await listening.say(spoken([4]));
    expect(listening.finals).toEqual([]);
    await listening.end();
    expect(listening.finals.map(({ utterance, text }) => [utterance, text])).toEqual([
      [1, written([1, 2, 3])],
      [2, written([4])],
    ]);
  });
});

describe('a stall', () => {
  it('ends the utterance with the audio there is, and a new one may follow', async () => {
    const listening = new TranscriberHarness();
    await listening.say(spoken([1, 2, 3]));
    listening.transcriber.stall();
    await settle();
    expect(listening.finals.map(({ text }) => text)).toEqual([written([1, 2, 3])]);
    await listening.say(concat(spoken([4, 5]), PAUSE));
    expect(listening.words).toEqual(asText([1, 2, 3, 4, 5]));
  });

  it('changes nothing in silence', async () => {
    const listening = new TranscriberHarness();
    await listening.say(silence(200));
    listening.transcriber.stall();
    await settle();
    expect(listening.events).toEqual([]);
  });

  it('waits until the audio there is has been judged', async () => {
    const listening = new TranscriberHarness();
    listening.engine.detectMs = 50;
    listening.transcriber.push(spoken([1, 2, 3]));
    listening.transcriber.stall();
    await settle();
    expect(listening.finals).toEqual([]);
    await listening.clock.run(200);
    expect(listening.finals.map(({ text }) => text)).toEqual([written([1, 2, 3])]);
  });

  it('is forgotten when audio comes before that', async () => {
    const listening = new TranscriberHarness();
    listening.engine.detectMs = 50;
    listening.transcriber.push(spoken([1, 2]));
    listening.transcriber.stall();
    listening.transcriber.push(concat(silence(50), spoken([3, 4])));
    await listening.clock.run(500);
    expect(listening.finals).toEqual([]);
    await listening.end();
    expect(listening.words).toEqual(asText([1, 2, 3, 4]));
  });
});

describe('closing', () => {
  it('aborts every transcription, leaves no timer and says nothing more', async () => {
    const listening = new TranscriberHarness();
    listening.engine.transcribeMs = 5000;
    await listening.say(concat(spoken([1, 2, 3]), PAUSE, spoken([4, 5, 6]), silence(240)));
    // The final of the first utterance, a partial and the eager decode of the second.
    expect(listening.engine.pending).toBe(3);
    const said = listening.events.length;
    const ended = listening.transcriber.end();
    listening.transcriber.close();
    await ended;
    await settle();
    expect(listening.engine.pending).toBe(0);
    expect(listening.clock.pending).toBe(0);
    await listening.clock.run(5000);
    expect(listening.events).toHaveLength(said);
  });

  it('stops asking an engine that is away', async () => {
    const listening = new TranscriberHarness();
    listening.engine.failure = 'unavailable';
    await listening.say(spoken([1, 2]));
    listening.transcriber.close();
    await settle();
    expect(listening.clock.pending).toBe(0);
    const asked = listening.engine.detected.length;
    await listening.clock.run(10_000);
    expect(listening.engine.detected).toHaveLength(asked);
  });

  it('gives up a final that is being tried again', async () => {
    const listening = new TranscriberHarness();
    await listening.say(spoken([1, 2, 3]));
    listening.engine.failure = 'unavailable';
    const ended = listening.transcriber.end();
    await listening.clock.run(150);
    listening.transcriber.close();
    await ended;
    expect(listening.finals).toEqual([]);
    expect(listening.clock.pending).toBe(0);
  });

  it('ignores audio and an end that come after it', async () => {
    const listening = new TranscriberHarness();
    listening.transcriber.close();
    await listening.say(concat(spoken([1, 2]), PAUSE));
    await listening.transcriber.end();
    expect([listening.events, listening.engine.detected]).toEqual([[], []]);
  });
});

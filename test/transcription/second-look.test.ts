import { describe, expect, it } from 'vitest';
import type { TranscribeRequest, Transcript } from '../../src/engine-client/engine.ts';
import { understandSpeech } from '../../src/transcription/second-look.ts';
import { FakeClock } from '../fakes/clock.ts';
import { concat, FakeEngine, silence, spoken } from '../fakes/engine.ts';
import { TranscriberHarness } from './transcriber-harness.ts';

const SPEECH = Int16Array.from({ length: 8000 }, (_, n) => n + 1);
const SURE = { text: 'Five, five, five.', tokens: [5], logprobs: Float32Array.of(-0.1) };
const NOTHING = { text: '', tokens: [], logprobs: new Float32Array(0) };

/** An engine that gives `answers` in turn, the last one again and again. */
function engineOf(...answers: readonly Partial<Transcript>[]): FakeEngine {
  const engine = new FakeEngine(new FakeClock());
  engine.hear = () => ({ text: '', ...answers[Math.min(engine.transcribed.length, answers.length) - 1] });
  return engine;
}

function read(engine: FakeEngine, request: Partial<TranscribeRequest> = {}): Promise<Transcript> {
  return understandSpeech(engine, { samples: SPEECH, urgency: 'final', dueInMs: 100, draft: [7], ...request });
}

describe('speech without words', () => {
  it('is read once more with 100 ms of silence before and behind it', async () => {
    const engine = engineOf(NOTHING, SURE);
    expect((await read(engine)).text).toBe('Five, five, five.');
    const [, second] = engine.transcribed;
    expect(second).toMatchObject({ urgency: 'final', dueInMs: 100, draft: [] });
    expect(second?.samples).toEqual(concat(silence(100), SPEECH, silence(100)));
  });

  it('has the times that its words have without that silence', async () => {
    const words = [
      { text: 'Five,', startMs: 60, endMs: 300 },
      { text: 'five.', startMs: 300, endMs: 550 },
    ];
    const { words: found } = await read(engineOf(NOTHING, { ...SURE, words }), { timed: true });
    expect(found).toEqual([
      { text: 'Five,', startMs: 0, endMs: 200 },
      { text: 'five.', startMs: 200, endMs: 450 },
    ]);
  });

  it.each([
    ['the recogniser is not sure of', { ...SURE, logprobs: Float32Array.of(-1.5) }],
    ['goes round in a loop', { ...SURE, looped: true }],
    ['is none again', NOTHING],
  ])('stays without when the second text %s', async (_, second) => {
    const engine = engineOf(NOTHING, second);
    expect([(await read(engine)).text, engine.transcribed.length]).toEqual(['', 2]);
  });

  it.each([
    ['with words', SURE],
    ['in a loop', { ...NOTHING, looped: true }],
    ['by a recogniser that does not say how sure it is', { ...NOTHING, logprobs: null }],
  ])('is not what came out %s: that is read once', async (_, first) => {
    const engine = engineOf(first, SURE);
    expect([(await read(engine)).text, engine.transcribed.length]).toEqual([first.text, 1]);
  });

  it('gets a final in a call, from its second reading', async () => {
    const harness = new TranscriberHarness({ partials: false });
    let readings = 0;
    harness.engine.hear = () => (readings++ === 0 ? NOTHING : SURE);
    await harness.say(concat(spoken([1]), silence(700)));
    expect(harness.finals.map(({ text }) => text)).toEqual(['Five, five, five.']);
  });
});

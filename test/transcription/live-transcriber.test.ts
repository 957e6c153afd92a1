import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../src/engine-client/engine.ts';
import { concat, silence, spoken, written } from '../fakes/engine.ts';
import { TranscriberHarness } from './transcriber-harness.ts';

const PAUSE = silence(700);

describe('LiveTranscriber', () => {
  it('captions an utterance while it is spoken, and ends it with one final', async () => {
    const harness = new TranscriberHarness({ originMs: 1000 });
    await harness.say(concat(silence(320), spoken([1, 2, 3, 4, 5, 6, 7, 8]), PAUSE));

    const texts = harness.partials.map(({ text }) => text);
    expect(texts[0]).toBe(written([1, 2]));
    expect(texts.at(-1)).toBe(written([1, 2, 3, 4, 5, 6, 7, 8]));
    expect(harness.finals).toEqual([
      expect.objectContaining({
        utterance: 1,
        text: written([1, 2, 3, 4, 5, 6, 7, 8]),
        tail: '',
        startMs: 1320,
        endMs: 3272,
      }),
    ]);
    expect(harness.captions.at(-1)?.final).toBe(true);
    expect(harness.events.filter(({ type }) => type !== 'caption')).toEqual([
      { type: 'speech.started', atMs: 1320 },
      { type: 'speech.stopped', atMs: 3272 },
    ]);
  });

  it('never takes stable words back, up to the final', async () => {
    const harness = new TranscriberHarness();
    await harness.say(concat(spoken([1, 2, 3, 4, 5, 6, 7, 8, 9]), PAUSE));
    harness.captions.reduce((before, { stable }) => {
      expect(stable.startsWith(before)).toBe(true);
      return stable;
    }, '');
    expect(harness.partials.some(({ stable }) => stable !== '')).toBe(true);
  });

  it('is silent about silence and about noise without words', async () => {
    const harness = new TranscriberHarness();
    harness.engine.hear = () => ({ text: '' });
    await harness.say(concat(silence(2000), spoken([1, 2, 3]), PAUSE));
    expect(harness.captions).toEqual([]);
    expect(harness.finalsBy).toEqual([]);
    expect(harness.events.map(({ type }) => type)).toEqual(['speech.started', 'speech.stopped']);
  });

  it('ends partials that were shown although the final turns out empty', async () => {
    const harness = new TranscriberHarness();
    harness.engine.hear = ({ urgency }) => ({ text: urgency === 'partial' ? 'hm hm' : '' });
    await harness.say(concat(spoken([1, 2, 3, 4]), PAUSE));
    expect(harness.partials[0]?.text).toBe('hm hm');
    expect(harness.finals).toEqual([expect.objectContaining({ text: '', tail: '' })]);
    expect(harness.captions.at(-1)?.final).toBe(true);
  });

  it('says nothing while a passing noise is shorter than MIN_SPEECH_MS', async () => {
    const harness = new TranscriberHarness();
    await harness.say(concat(silence(320), spoken([1], { wordMs: 32 }), PAUSE));
    expect(harness.events).toEqual([]);
    expect(harness.engine.transcribed).toEqual([]);
  });

  it('carries the detector state along', async () => {
    const harness = new TranscriberHarness();
    await harness.say(silence(128));
    expect(harness.engine.detected.map(({ state }) => state?.[0] ?? null)).toEqual([null, 1, 2, 3]);
  });

  it('gives partials the previous tokens as draft, finals none', async () => {
    const harness = new TranscriberHarness();
    let count = 0;
    harness.engine.hear = () => ({ text: `word ${++count}`, tokens: [count] });
    await harness.say(concat(spoken([1, 2, 3, 4, 5, 6]), PAUSE));
    expect(harness.engine.of('partial').map(({ draft }) => draft)).toEqual([[], [1], [2]]);
    expect(harness.engine.of('eager').map(({ draft }) => draft)).toEqual([[]]);
  });

  it('sends no draft with a window that begins elsewhere than the one it came from', async () => {
    const harness = new TranscriberHarness({ settings: { WINDOW_MAX_MS: 1000 } });
    harness.engine.hear = () => ({ text: 'word', tokens: [7] });
    await harness.say(spoken([1, 2, 3, 4, 5, 6, 7, 8]));
    expect(harness.engine.of('partial').map(({ draft }) => draft)).toEqual([[], [7], [], []]);
  });

  it('merges windows that do not reach back to the start of the utterance', async () => {
    const harness = new TranscriberHarness({ settings: { WINDOW_MAX_MS: 1000 } });
    await harness.say(concat(spoken([1, 2, 3, 4, 5, 6, 7, 8]), silence(64)));
    const words = harness.partials.at(-1)?.text.toLowerCase().replace(/[.]/gu, '');
    expect(words).toBe('w1 w2 w3 w4 w5 w6 w7 w8'.slice(0, words?.length));
    expect(words).toContain('w6');
  });

  it('drops the draft after the model went round in a loop', async () => {
    const harness = new TranscriberHarness();
    harness.engine.hear = () => ({ text: 'four four four', tokens: [4, 4, 4], looped: true });
    await harness.say(concat(spoken([1, 2, 3, 4, 5, 6]), PAUSE));
    expect(harness.engine.of('partial').every(({ draft }) => draft.length === 0)).toBe(true);
  });

  it('mends endless repetitions', async () => {
    const harness = new TranscriberHarness();
    harness.engine.hear = () => ({ text: `so ${'the '.repeat(30)}` });
    await harness.say(concat(spoken([1, 2]), PAUSE));
    expect(harness.finals[0]?.text).toBe('so the');
  });

  it('makes only finals when partials are off', async () => {
    const harness = new TranscriberHarness({ partials: false });
    await harness.say(concat(spoken([1, 2, 3, 4]), PAUSE));
    expect(harness.captions.map(({ final, stable }) => [final, stable])).toEqual([[true, written([1, 2, 3, 4])]]);
    expect(harness.engine.of('partial')).toEqual([]);
  });

  it('sends everything as batch, and nothing on speculation, when it is not live', async () => {
    const harness = new TranscriberHarness({ partials: false, urgency: 'batch' });
    await harness.pour(concat(spoken([1, 2, 3]), PAUSE, spoken([4]), PAUSE));
    await harness.end();
    expect(harness.engine.transcribed.map(({ urgency }) => urgency)).toEqual(['batch', 'batch']);
    expect(harness.words).toEqual(['w1', 'w2', 'w3', 'w4']);
  });
});

describe('eager final', () => {
  it('is out at the very endpoint when the silence holds', async () => {
    const harness = new TranscriberHarness();
    harness.engine.transcribeMs = 150;
    await harness.say(concat(spoken([1, 2, 3]), PAUSE));
    expect(harness.finalsBy).toEqual([{ how: 'eager', lagMs: 0 }]);
    expect(harness.engine.of('final')).toEqual([]);
    // The last audio used, the post-roll, had come 300 ms earlier: ENDPOINT_MS less POST_ROLL_MS, in steps of 20 and 32
    // ms.
    expect(harness.finals[0]?.lagMs).toBeGreaterThanOrEqual(280);
    expect(harness.finals[0]?.lagMs).toBeLessThanOrEqual(320);
  });

  it('is waited for when it comes later than the endpoint', async () => {
    const harness = new TranscriberHarness();
    harness.engine.transcribeMs = 350;
    await harness.say(concat(spoken([1, 2, 3]), PAUSE));
    expect(harness.finalsBy).toEqual([{ how: 'eager', lagMs: expect.closeTo(140, -2) }]);
    expect(harness.finals).toHaveLength(1);
  });

  it('is aborted when speech resumes, and begun again at the next pause', async () => {
    const harness = new TranscriberHarness();
    harness.engine.transcribeMs = 100;
    await harness.say(concat(spoken([1, 2, 3]), silence(240), spoken([4, 5]), PAUSE));
    const [first, second, ...more] = harness.engine.of('eager');
    expect([first?.signal?.aborted, second?.signal?.aborted, more.length]).toEqual([true, false, 0]);
    expect(harness.finals.map(({ text }) => text)).toEqual([written([1, 2, 3, 4, 5])]);
  });

  it('serves as a partial when it is done before speech resumes', async () => {
    const harness = new TranscriberHarness();
    await harness.say(concat(spoken([1]), silence(240), spoken([2, 3]), PAUSE));
    expect(harness.partials[0]?.text).toBe(written([1]));
    expect(harness.words).toEqual(['w1', 'w2', 'w3']);
  });

  it('makes a partial that is answered after it worthless', async () => {
    const harness = new TranscriberHarness({ settings: { ENDPOINT_MS: 2000 } });
    harness.engine.transcribeMs = 700;
    harness.engine.hear = ({ urgency }) => ({ text: `${urgency} text` });
    await harness.say(spoken([1, 2]));
    harness.engine.transcribeMs = 10;
    await harness.say(silence(2200));
    expect(harness.captions.map(({ text, final }) => [text, final])).toEqual([
      ['eager text', false],
      ['eager text', true],
    ]);
  });

  it('is replaced by a decode at the endpoint when it fails', async () => {
    const harness = new TranscriberHarness();
    const { hear } = harness.engine;
    harness.engine.hear = (request) => {
      if (request.urgency === 'eager') throw new EngineError('model_failed', 'as the test wants it');
      return hear(request);
    };
    await harness.say(concat(spoken([1, 2]), PAUSE));
    expect(harness.finalsBy).toEqual([{ how: 'fresh', lagMs: 0 }]);
    expect(harness.words).toEqual(['w1', 'w2']);
  });

  it('stops partials: none covers silence past EAGER_MS', async () => {
    const harness = new TranscriberHarness({ settings: { ENDPOINT_MS: 2000 } });
    await harness.say(concat(spoken([1, 2, 3]), silence(1900)));
    const asked = harness.engine.transcribed.map(({ urgency }) => urgency);
    expect(asked).toEqual(['partial', 'partial', 'eager']);
  });
});

describe('long speech', () => {
  const LONG = Array.from({ length: 120 }, (_, n) => n + 1);

  it('is cut before MAX_UTTERANCE_MS between two words, losing and doubling none', async () => {
    const harness = new TranscriberHarness();
    await harness.say(concat(spoken(LONG), PAUSE));
    expect(harness.words).toEqual(LONG.map((word) => `w${word}`));
    expect(harness.finals.length).toBeGreaterThan(2);
    for (const { startMs, endMs } of harness.finals) expect(endMs - startMs).toBeLessThanOrEqual(12_000);
    harness.finals.slice(1).forEach(({ startMs }, n) => {
      expect(startMs).toBe(harness.finals[n]?.endMs);
    });
    expect(harness.events.filter(({ type }) => type !== 'caption').map(({ type }) => type)).toEqual([
      'speech.started',
      'speech.stopped',
    ]);
  });

  it('is decoded as soon as it is cut', async () => {
    const harness = new TranscriberHarness();
    harness.engine.transcribeMs = 100;
    await harness.say(spoken(LONG));
    expect(harness.finalsBy.map(({ how }) => how)).toEqual(['fresh', 'fresh']);
    for (const { lagMs } of harness.finalsBy) expect(lagMs).toBe(100);
  });

  it('ends in the pause it is in rather than being cut', async () => {
    const harness = new TranscriberHarness({ settings: { MAX_UTTERANCE_MS: 1000, ENDPOINT_MS: 600 } });
    await harness.say(concat(spoken([1, 2, 3]), silence(500), spoken([4]), PAUSE));
    expect(harness.finals.map(({ text }) => text)).toEqual([written([1, 2, 3]), written([4])]);
    const turns = harness.events.filter(({ type }) => type !== 'caption').map(({ type }) => type);
    expect(turns).toEqual(['speech.started', 'speech.stopped', 'speech.started', 'speech.stopped']);
  });

  it('is cut in time although every other window begins a pause', async () => {
    const harness = new TranscriberHarness({
      settings: { MAX_UTTERANCE_MS: 1000, EAGER_MS: 32, POST_ROLL_MS: 0, MIN_SPEECH_MS: 32 },
    });
    harness.engine.hear = () => ({ text: 'stutter' });
    await harness.say(
      concat(spoken([1, 1]), silence(30), spoken(new Array<number>(60).fill(1), { wordMs: 32, gapMs: 32 }), PAUSE),
    );
    expect(harness.finals.length).toBeGreaterThan(3);
    for (const { startMs, endMs } of harness.finals) expect(endMs - startMs).toBeLessThanOrEqual(1000);
  });

  it('has no second utterance when the cut fell into its last pause', async () => {
    const harness = new TranscriberHarness({ settings: { MAX_UTTERANCE_MS: 1000 } });
    await harness.say(concat(spoken([1, 2, 3, 4], { wordMs: 175 }), silence(1000)));
    expect(harness.words).toEqual(['w1', 'w2', 'w3', 'w4']);
    expect(harness.finals).toHaveLength(1);
    expect(harness.engine.transcribed.filter(({ urgency }) => urgency !== 'partial')).toHaveLength(1);
  });
});

describe('a long call', () => {
  it('needs no more room than a short one', async () => {
    const harness = new TranscriberHarness();
    const turn = concat(spoken([1, 2]), silence(8550));
    for (let n = 0; n < 16; n++) await harness.pour(turn, [16_000]);
    expect(harness.finals).toHaveLength(16);
    expect(harness.finals.at(-1)).toMatchObject({ utterance: 16, startMs: 135_008 });
  });
});

describe('whatever the sizes of what is pushed', () => {
  it('the finals are the same', async () => {
    const turn = fc.record({
      words: fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 8 }),
      pauseMs: fc.integer({ min: 100, max: 900 }),
    });
    const settings = { MAX_UTTERANCE_MS: 1500 };
    await fc.assert(
      fc.asyncProperty(
        fc.array(turn, { minLength: 1, maxLength: 3 }),
        fc.array(fc.integer({ min: 1, max: 9000 }), { minLength: 1, maxLength: 4 }),
        async (turns, sizes) => {
          const audio = concat(
            ...turns.flatMap(({ words, pauseMs }) => [spoken(words, { wordMs: 150 }), silence(pauseMs)]),
          );
          const live = new TranscriberHarness({ settings });
          await live.say(audio);
          await live.end();
          const poured = new TranscriberHarness({ settings });
          await poured.pour(audio, [...sizes, 4000]);
          await poured.end();
          const comparable = (harness: TranscriberHarness): unknown =>
            harness.finals.map(({ utterance, text, startMs, endMs }) => [utterance, text, startMs, endMs]);
          expect(comparable(poured)).toEqual(comparable(live));
        },
      ),
      { numRuns: 30 },
    );
  });
});

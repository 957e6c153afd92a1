import { describe, expect, it } from 'vitest';
import { ENGINE_RATE_HZ, type SpokenWord } from '../../engine/contract.ts';
import { EngineError, type TranscribeRequest } from '../../src/engine-client/engine.ts';
import { concat, type FakeEngine, silence, spoken } from '../fakes/engine.ts';
import { TranscriberHarness } from './transcriber-harness.ts';

/** Ends an utterance, and not the group. */
const BREATH = silence(700);
/** Ends the group, too. */
const REST = silence(4000);

function newHarness(changes: ConstructorParameters<typeof TranscriberHarness>[0] = {}): TranscriberHarness {
  const harness = new TranscriberHarness({ ...changes, settings: { JOIN_MS: 3000, ...changes.settings } });
  const { hear } = harness.engine;
  harness.engine.hear = (request) => withWords(hear(request).text, request);
  return harness;
}

/** `text` with its words where the samples are loud, in order. */
function withWords(text: string, { samples, timed = false }: TranscribeRequest) {
  const words: SpokenWord[] = [];
  const said = text.split(' ');
  for (let from = 0; from < samples.length; ) {
    let to = from;
    while (to < samples.length && samples[to] === samples[from]) to++;
    const next = said[words.length];
    if (samples[from] !== 0 && to - from > 1200 && next !== undefined)
      words.push({ text: next, startMs: ms(from), endMs: ms(to) });
    from = to;
  }
  return timed ? { text, words, tokens: [samples.length] } : { text };
}

/** Where what gives one of `texts` by itself gives none. */
function withoutWordsAlone(texts: readonly string[]): TranscriberHarness {
  const harness = newHarness({ partials: false });
  const { hear } = harness.engine;
  harness.engine.hear = (request) => (texts.includes(hear(request).text ?? '') ? { text: '' } : hear(request));
  return harness;
}

function ms(samples: number): number {
  return Math.round((1000 * samples) / ENGINE_RATE_HZ);
}

/** What a reader has in the end: the highest version of each utterance. */
function latest({ finals, revisions }: TranscriberHarness): string[] {
  const texts = new Map(finals.map(({ utterance, text }) => [utterance, text]));
  for (const { utterance, text } of revisions) texts.set(utterance, text);
  return [...texts.values()];
}

const joint = ({ engine }: { engine: FakeEngine }): TranscribeRequest[] =>
  engine.transcribed.filter(({ timed }) => timed === true);

describe('utterances with a short pause between them', () => {
  it('keep their finals, and are revised to what they are when they are read together', async () => {
    const harness = newHarness();
    await harness.say(concat(spoken([1, 2]), BREATH, spoken([3, 4]), BREATH));
    expect(harness.finals.map(({ text }) => text)).toEqual(['W1 w2.', 'W3 w4.']);
    expect(harness.revisions).toMatchObject([
      { utterance: 1, version: 2, text: 'W1 w2', startMs: harness.finals[0]?.startMs },
      { utterance: 2, version: 2, text: 'w3 w4.', endMs: harness.finals[1]?.endMs },
    ]);
    expect(harness.joint).toEqual(['revised']);
  });

  it('are read without the pauses between them, the tokens read before being the draft', async () => {
    const harness = newHarness();
    await harness.say(concat(spoken([1]), BREATH, spoken([2]), BREATH, spoken([3]), BREATH));
    const [first, second] = joint(harness);
    expect(ms(first?.samples.length ?? 0)).toBeLessThan(2 * 200 + BREATH.length / 16 / 2 + 250);
    expect([first?.draft, second?.draft]).toEqual([[], [first?.samples.length]]);
    expect(latest(harness)).toEqual(['W1', 'w2', 'w3.']);
  });

  it('are revised once for each new text, the version counting on', async () => {
    const harness = newHarness();
    await harness.say(concat(spoken([1]), BREATH, spoken([2]), BREATH, spoken([3]), BREATH));
    expect(harness.revisions.map(({ utterance, version, text }) => [utterance, version, text])).toEqual([
      [1, 2, 'W1'],
      [2, 2, 'w2.'],
      [2, 3, 'w2'],
      [3, 2, 'w3.'],
    ]);
  });

  it('are not revised when the reading is the same', async () => {
    const harness = newHarness();
    harness.engine.hear = (request) => withWords(request.timed === true ? 'Yes. No.' : 'Yes.', request);
    await harness.say(concat(spoken([1]), BREATH));
    harness.engine.hear = (request) => withWords(request.timed === true ? 'Yes. No.' : 'No.', request);
    await harness.say(concat(spoken([2]), BREATH));
    expect([harness.revisions, harness.joint]).toEqual([[], ['unchanged']]);
  });

  it('may lose all words to their neighbour', async () => {
    const harness = newHarness();
    const { hear } = harness.engine;
    await harness.say(concat(spoken([1]), BREATH));
    harness.engine.hear = (request) =>
      request.timed === true ? { text: 'Nine.', words: [{ text: 'Nine.', startMs: 100, endMs: 290 }] } : hear(request);
    await harness.say(concat(spoken([2]), BREATH));
    expect(latest(harness)).toEqual(['Nine.', '']);
  });

  it('get finals when they had no words by themselves', async () => {
    const harness = withoutWordsAlone(['W1.', 'W2.']);
    await harness.say(concat(spoken([1]), BREATH, spoken([2]), BREATH, spoken([3]), BREATH));
    expect(harness.finals.slice(0, 2)).toMatchObject([
      { utterance: 1, text: 'W1', stable: 'W1', tail: '' },
      { utterance: 2, text: 'w2.' },
    ]);
    expect(harness.finals.map(({ utterance }) => utterance)).toEqual([1, 2, 3]);
    expect(latest(harness)).toEqual(['W1', 'w2', 'w3.']);
  });

  it('do not get them behind a later final: the words are given to the one before', async () => {
    const harness = withoutWordsAlone(['W2.']);
    harness.engine.load = 0.6;
    await harness.say(concat(spoken([1]), BREATH, spoken([2]), BREATH, spoken([3]), REST));
    expect(harness.finals.map(({ utterance }) => utterance)).toEqual([1, 3]);
    expect(latest(harness)).toEqual(['W1 w2', 'w3.']);
  });

  it('do not take words from the final before', async () => {
    const harness = withoutWordsAlone(['W3.']);
    const { hear } = harness.engine;
    const words = [
      { text: 'w1', startMs: 100, endMs: 290 },
      { text: 'w2', startMs: 700, endMs: 900 },
    ];
    harness.engine.hear = (request) => (request.timed === true ? { text: 'w1 w2', words } : hear(request));
    await harness.say(concat(spoken([1, 2]), BREATH, spoken([3]), BREATH));
    expect([harness.finals.length, latest(harness)]).toEqual([1, ['w1 w2']]);
  });
});

describe('a group of utterances', () => {
  it('ends where nobody speaks for JOIN_MS', async () => {
    const harness = newHarness();
    await harness.say(concat(spoken([1]), REST, spoken([2]), BREATH));
    expect([joint(harness), harness.revisions]).toEqual([[], []]);
  });

  it('ends at 16 s of speech, and both sides of a cut are read together up to there', async () => {
    const harness = newHarness();
    await harness.say(concat(spoken(Array.from({ length: 60 }, (_, n) => n + 1)), BREATH, spoken([61]), BREATH));
    expect(harness.finals.length).toBeGreaterThan(1);
    for (const { samples } of joint(harness)) expect(ms(samples.length)).toBeLessThanOrEqual(16_000);
    expect(joint(harness).length).toBeGreaterThan(0);
    expect(latest(harness).join(' ').split(' ')).toHaveLength(61);
  });

  it('ends where sound was lost', async () => {
    const harness = newHarness();
    await harness.say(concat(spoken([1]), BREATH));
    harness.transcriber.noteLoss();
    await harness.say(concat(silence(100), spoken([2]), BREATH, spoken([3]), BREATH));
    expect(harness.revisions.map(({ utterance }) => utterance)).toEqual([2, 3]);
  });

  it('is not there with JOIN_MS=0', async () => {
    const harness = newHarness({ settings: { JOIN_MS: 0 } });
    await harness.say(concat(spoken([1]), BREATH, spoken([2]), BREATH));
    expect(joint(harness)).toEqual([]);
  });
});

describe('a joint reading', () => {
  it('is asked for behind the final of its last utterance, as what may be dropped', async () => {
    const harness = newHarness();
    harness.engine.transcribeMs = 50;
    await harness.say(concat(spoken([1]), BREATH, spoken([2]), BREATH));
    expect(joint(harness)).toMatchObject([{ urgency: 'partial', draft: [] }]);
    const lastFinal = harness.events.findLastIndex((event) => event.type === 'caption' && event.final);
    const firstRevision = harness.events.findIndex(({ type }) => type === 'revision');
    expect(firstRevision).toBeGreaterThan(lastFinal);
  });

  it('is put off to the end of its group while the engines are busy', async () => {
    const harness = newHarness();
    harness.engine.load = 0.6;
    await harness.say(concat(spoken([1]), BREATH, spoken([2]), BREATH, spoken([3]), BREATH));
    expect(joint(harness)).toHaveLength(0);
    await harness.say(REST);
    expect(joint(harness)).toHaveLength(1);
    expect(latest(harness)).toEqual(['W1', 'w2', 'w3.']);
  });

  it('is left out when the engines have no time', async () => {
    const harness = newHarness();
    harness.engine.load = 0.9;
    await harness.say(concat(spoken([1]), BREATH, spoken([2]), REST));
    expect([joint(harness), harness.joint]).toEqual([[], ['dropped']]);
    expect(harness.finals).toHaveLength(2);
  });

  it.each([
    ['in a loop', { text: 'W1 w1 w1 w1.', looped: true }],
    ['without most of the words', { text: 'W1.', looped: false }],
    ['without words', { text: '', looped: false }],
  ])('changes nothing when it ended %s', async (_, broken) => {
    const harness = newHarness();
    const { hear } = harness.engine;
    harness.engine.hear = (request) => (request.timed === true ? broken : hear(request));
    await harness.say(concat(spoken([1, 2]), BREATH, spoken([3, 4]), BREATH));
    expect([harness.revisions, harness.joint]).toEqual([[], ['unchanged']]);
  });

  it('comes before the end of the track, which waits for it', async () => {
    const harness = newHarness();
    await harness.say(concat(spoken([1]), BREATH, spoken([2])));
    harness.engine.transcribeMs = 300;
    await harness.end();
    expect(latest(harness)).toEqual(['W1', 'w2.']);
  });

  it('does not hold up the end of the track for more than 2 s', async () => {
    const harness = newHarness();
    await harness.say(concat(spoken([1]), BREATH, spoken([2])));
    const { transcribe } = harness.engine;
    harness.engine.transcribe = function (this: FakeEngine, request) {
      this.transcribeMs = request.timed === true ? 60_000 : 0;
      return transcribe.call(this, request);
    };
    const before = harness.clock.nowMs();
    await harness.end();
    expect(harness.clock.nowMs() - before).toBeLessThan(2500);
    expect([harness.finals.length, harness.revisions, harness.joint]).toEqual([2, [], ['dropped']]);
  });

  it('revises nothing when it fails, or after the transcriber was closed', async () => {
    const failing = newHarness();
    await failing.say(concat(spoken([1]), BREATH, spoken([2])));
    const { transcribe } = failing.engine;
    failing.engine.transcribe = (request) =>
      request.timed === true
        ? Promise.reject(new EngineError('model_failed', 'told to'))
        : transcribe.call(failing.engine, request);
    await failing.say(BREATH);
    expect([failing.finals.length, failing.revisions]).toEqual([2, []]);

    const closed = newHarness();
    closed.engine.transcribeMs = 100;
    await closed.say(concat(spoken([1]), BREATH, spoken([2]), silence(450)));
    expect(joint(closed)).toHaveLength(1);
    closed.transcriber.giveUp('shutdown');
    await closed.clock.run(1000);
    expect(closed.revisions).toEqual([]);
  });

  it('has estimated times where the recogniser gives none', async () => {
    const harness = new TranscriberHarness({ settings: { JOIN_MS: 3000 } });
    await harness.say(concat(spoken([1, 2]), BREATH, spoken([3, 4]), BREATH));
    expect([latest(harness).length, latest(harness).join(' ')]).toEqual([2, 'W1 w2 w3 w4.']);
  });
});

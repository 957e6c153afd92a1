import { describe, expect, it } from 'vitest';
import type { Transcript } from '../../src/engine-client/engine.ts';
import { ANSWER_SURE, type ExpectedAnswer, understandAnswer } from '../../src/transcription/expected-answer.ts';
import { FakeClock } from '../fakes/clock.ts';
import { concat, FakeEngine, silence, spoken } from '../fakes/engine.ts';
import { TranscriberHarness } from './transcriber-harness.ts';

const YES_NO: ExpectedAnswer = {
  words: ['yes', 'no', 'correct', 'x'.repeat(65)],
  meaningOf: (text) => ({ 'Yes.': 'true', 'Correct.': 'true', 'No.': 'false' })[text] ?? null,
};
const samples = Int16Array.from({ length: 8000 }, (_, n) => n + 1);
const NO_COST = { waitMs: 0, runMs: 0, runs: 0 };
const heard = (text: string, logprob: number | null): Transcript => ({
  text,
  tokens: [5],
  logprobs: logprob === null ? null : Float32Array.of(logprob),
  looped: false,
  cost: NO_COST,
});
const SURE = -0.05;
const UNSURE = -0.5;

/** What becomes of `transcript` where the second reading gives these. */
async function answer(transcript: Transcript, readings: Transcript['expectedReadings']) {
  const engine = new FakeEngine(new FakeClock());
  engine.hear = () => ({ text: 'else', ...(readings !== undefined && { expectedReadings: readings }) });
  const request = { samples, urgency: 'final', dueInMs: 100, draft: [7] } as const;
  const found = await understandAnswer(engine, { request, transcript }, YES_NO);
  return { text: found.transcript.text, sureness: found.sureness, asked: engine.transcribed };
}

describe('a text where an answer is expected', () => {
  it('that is none becomes the answer that is as likely', async () => {
    const { text, sureness, asked } = await answer(heard('Peret.', UNSURE), [{ text: 'Correct.', behind: 0.5 }]);
    expect([text, asked.length]).toEqual(['Correct.', 1]);
    expect(sureness).toBeGreaterThanOrEqual(ANSWER_SURE);
    expect(asked[0]).toMatchObject({ samples, draft: [], expectedWords: ['yes', 'no', 'correct'] });
  });

  it('stays what it is where no answer is near', async () => {
    const { text, sureness } = await answer(heard('Peret.', UNSURE), [{ text: 'Correct.', behind: 6 }]);
    expect([text, sureness]).toEqual(['Peret.', null]);
  });

  it('stays what it is where two answers are about as near', async () => {
    const near = [
      { text: 'Correct.', behind: 1 },
      { text: 'No.', behind: 1.2 },
    ];
    expect((await answer(heard('Peret.', UNSURE), near)).text).toBe('Peret.');
    const same = [...near.slice(0, 1), { text: 'Yes.', behind: 1.2 }];
    expect((await answer(heard('Peret.', UNSURE), same)).text).toBe('Correct.');
  });

  it('that is an unsure answer is as sure as it is likelier than others', async () => {
    const alone = await answer(heard('Yes.', UNSURE), [{ text: 'Yes.', behind: 0 }]);
    expect([alone.text, alone.sureness]).toEqual(['Yes.', 1]);
    const doubted = await answer(heard('Yes.', UNSURE), [
      { text: 'Yes.', behind: 0 },
      { text: 'No.', behind: 0.1 },
    ]);
    expect(doubted.text).toBe('Yes.');
    expect(doubted.sureness).toBeLessThan(ANSWER_SURE);
  });

  it.each([
    ['is a sure answer', heard('Yes.', SURE)],
    ['went round in a loop', { ...heard('Peret.', UNSURE), looped: true }],
    ['is of a recogniser that does not say how sure it is', heard('Peret.', null)],
  ])('is not read again if it %s', async (_, transcript) => {
    const { text, sureness, asked } = await answer(transcript, [{ text: 'Correct.', behind: 0 }]);
    expect([text, sureness, asked]).toEqual([transcript.text, null, []]);
  });

  it('is as it is where the recogniser cannot read by words', async () => {
    const { text, sureness } = await answer(heard('Peret.', UNSURE), undefined);
    expect([text, sureness]).toEqual(['Peret.', null]);
  });

  it('is the final of a call, as sure as it is as an answer; partials are not read so', async () => {
    const harness = new TranscriberHarness({ expected: YES_NO });
    harness.engine.hear = ({ expectedWords }) =>
      expectedWords === undefined
        ? { text: 'Peret.', logprobs: Float32Array.of(UNSURE) }
        : { text: 'Peret.', expectedReadings: [{ text: 'Correct.', behind: 0.5 }] };
    await harness.say(concat(spoken([1, 2, 3]), silence(700)));
    expect(harness.finals.map(({ text }) => text)).toEqual(['Correct.']);
    expect(harness.finals[0]?.confidence).toBeGreaterThanOrEqual(ANSWER_SURE);
    const urgencies = harness.engine.transcribed.flatMap((job) => (job.expectedWords === undefined ? [] : job.urgency));
    expect(urgencies).toEqual(['eager']);
  });
});

import { describe, expect, it } from 'vitest';
import { type Outcome, render } from '../../../src/http/transcriptions/formats.ts';
import type { Segment } from '../../../src/recordings/transcribe.ts';

const bytesOf = (text: string) => [...Buffer.from(text)];

function segment(text: string, logprob: number): Segment {
  return {
    channel: 0,
    text,
    startMs: 0,
    endMs: 500,
    words: [{ text, spaced: true, startMs: 0, endMs: 500, confidence: 0.9 }],
    wordTimes: 'aligned',
    avgLogprob: logprob,
    tokens: [{ bytes: bytesOf(text), logprob }],
  };
}

const OUTCOME: Outcome = {
  task: 'transcribe',
  durationMs: 1000,
  spokenLanguage: 'en',
  language: 'english',
  segments: [segment('Hello', -0.5), segment('there.', -0.25)],
};

const OPTIONS = {
  channels: 'mix',
  max_line_chars: 42,
  max_cue_ms: 7000,
  timestamp_granularities: ['segment', 'word'] as ('segment' | 'word')[],
} as const;

const rendered = (outcome: Outcome, format: 'json' | 'verbose_json', include: readonly 'logprobs'[] = []) =>
  JSON.parse(render(outcome, { ...OPTIONS, include, response_format: format }).body) as Record<string, unknown>;

describe('a transcript', () => {
  it("has OpenAI's log probabilities when they are asked for, whose tokens joined are its text", () => {
    const { text, logprobs } = rendered(OUTCOME, 'json', ['logprobs']);
    expect(logprobs).toEqual([
      { token: 'Hello', logprob: -0.5, bytes: bytesOf('Hello') },
      { token: ' there.', logprob: -0.25, bytes: bytesOf(' there.') },
    ]);
    expect((logprobs as { token: string }[]).map(({ token }) => token).join('')).toBe(text);
  });

  it('has none otherwise', () => {
    expect(rendered(OUTCOME, 'json')).not.toHaveProperty('logprobs');
  });

  it('says in detail how sure segments and words are', () => {
    const { segments, words } = rendered(OUTCOME, 'verbose_json');
    expect(segments).toMatchObject([{ avg_logprob: -0.5 }, { avg_logprob: -0.25, confidence: expect.any(Number) }]);
    expect(words).toMatchObject([{ word: 'Hello', confidence: 0.9 }, { word: 'there.' }]);
  });

  it('in another language has neither text nor language, and a warning', () => {
    const other = { ...OUTCOME, language: null, spokenLanguage: null, segments: [], warning: 'another language' };
    for (const format of ['json', 'verbose_json'] as const)
      expect(rendered(other, format)).toMatchObject({ text: '', language: null, warning: 'another language' });
  });
});

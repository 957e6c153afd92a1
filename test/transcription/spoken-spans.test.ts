import { expect, it } from 'vitest';
import { SpokenSpans } from '../../src/transcription/spoken-spans.ts';

it('has one span for each stretch of speech between pauses', () => {
  const spans = new SpokenSpans(100);
  spans.pauseAt(200);
  spans.pauseAt(200);
  spans.resumeAt(300);
  spans.resumeAt(350);
  expect(spans.until(400)).toEqual([
    { from: 100, to: 200 },
    { from: 300, to: 400 },
  ]);
});

it('ends where the utterance does, and is never empty', () => {
  const spans = new SpokenSpans(100);
  spans.pauseAt(200);
  spans.resumeAt(300);
  expect(spans.until(250)).toEqual([{ from: 100, to: 200 }]);
  expect(spans.until(90)).toHaveLength(1);
});

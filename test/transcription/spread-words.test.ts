import { expect, it } from 'vitest';
import { spreadWords } from '../../src/transcription/estimated-word-times.ts';

it('spreads words over a stretch by their letters', () => {
  expect(spreadWords('I telephone.', 1000, 2000)).toEqual([
    { text: 'I', spaced: true, startMs: 1000, endMs: 1192 },
    { text: 'telephone.', spaced: true, startMs: 1192, endMs: 2000 },
  ]);
});

it('has no words for no text', () => {
  expect(spreadWords('', 1000, 2000)).toEqual([]);
});

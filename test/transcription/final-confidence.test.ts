import { describe, expect, it } from 'vitest';
import {
  calibratedOf,
  confidenceOf,
  LOW_CONFIDENCE,
  meanLogprob,
  wordConfidence,
} from '../../src/transcription/confidence.ts';
import { FinalConfidence } from '../../src/transcription/final-confidence.ts';
import { LanguageEvidence } from '../../src/transcription/language-evidence.ts';

const reading = (tokens: number, logprob: number) => new Float32Array(tokens).fill(logprob);

describe('the confidence of a text', () => {
  it('grows with the probabilities of its tokens and stays between 0 and 1', () => {
    const found = [-100, -2, -1, -0.5, -0.2, 0].map((logprob) => confidenceOf(reading(5, logprob)) ?? Number.NaN);
    expect(found).toEqual(found.toSorted((a, b) => a - b));
    expect(found[0]).toBeGreaterThanOrEqual(0);
    expect(found.at(-1)).toBeGreaterThan(0.9);
    expect(found.at(-1)).toBeLessThanOrEqual(1);
  });

  it('is not known where the recogniser has no probabilities', () => {
    expect(confidenceOf(null)).toBeNull();
    expect(confidenceOf(new Float32Array(0))).toBeNull();
    expect(meanLogprob([-1, -3])).toBe(-2);
  });

  it('is not known of a recogniser that its curves were not fitted to', () => {
    const words = [{ text: 'so', startMs: 0, endMs: 90, probability: 0.5 }];
    const logprobs = reading(3, -1);
    expect(calibratedOf({ logprobs, words })).toEqual({ logprobs, words });
    expect(calibratedOf({ logprobs, words, isCalibrated: false })).toEqual({
      logprobs: null,
      words: [{ text: 'so', startMs: 0, endMs: 90 }],
    });
  });

  it('is that of a word too, even of one that the recogniser thinks impossible', () => {
    expect(wordConfidence(1)).toBeGreaterThan(0.9);
    expect(wordConfidence(0)).toBe(0);
  });
});

describe('the language', () => {
  it('is not doubted after a few tokens, however improbable', () => {
    const evidence = new LanguageEvidence();
    evidence.add(reading(7, -5));
    expect(evidence.isUnlikely).toBe(false);
    evidence.add(reading(1, -5));
    expect(evidence.isUnlikely).toBe(true);
    expect(evidence.isCertain).toBe(false);
  });

  it('is doubted the sooner, the less probable the tokens are', () => {
    const isUnlikely = (tokens: number, logprob: number) => {
      const evidence = new LanguageEvidence();
      evidence.add(reading(tokens, logprob));
      return evidence.isUnlikely;
    };
    expect(isUnlikely(12, -0.8)).toBe(false);
    expect(isUnlikely(12, -1)).toBe(true);
    expect(isUnlikely(100, -0.8)).toBe(true);
    expect(isUnlikely(1000, -0.5)).toBe(false);
  });

  it('is judged by the latest readings where old ones are to be forgotten', () => {
    const evidence = new LanguageEvidence(100);
    for (let i = 0; i < 10; i++) evidence.add(reading(20, -0.1));
    expect(evidence.isSettled).toBe(true);
    for (let i = 0; i < 6; i++) evidence.add(reading(20, -1.2));
    expect(evidence.isUnlikely).toBe(true);
    expect(evidence.isCertain).toBe(true);
  });

  it('is not doubted without probabilities', () => {
    const evidence = new LanguageEvidence();
    evidence.add(new Float32Array(0));
    expect(evidence).toMatchObject({ isUnlikely: false, isCertain: false, isSettled: false });
    evidence.add(null);
    expect(evidence).toMatchObject({ isUnlikely: false, isCertain: false, isSettled: true });
  });
});

describe('a final caption', () => {
  it('has a confidence, and a mark when that is low', () => {
    const judge = new FinalConfidence();
    expect(judge.judge(reading(5, -0.1))).toEqual({
      marks: { confidence: confidenceOf(reading(5, -0.1)) },
      isLeftOut: false,
    });
    const { marks } = judge.judge(reading(5, -1.5));
    expect(marks.confidence).toBeLessThan(LOW_CONFIDENCE);
    expect(marks.lowConfidence).toBe(true);
  });

  it('has none where there are no probabilities', () => {
    expect(new FinalConfidence().judge(null)).toEqual({ marks: {}, isLeftOut: false });
  });

  it('says that the language is another one, and is left out once that is certain', () => {
    const judge = new FinalConfidence();
    const judged = Array.from({ length: 6 }, () => judge.judge(reading(12, -1.2)));
    expect(judged.map(({ marks }) => marks.language)).toEqual([null, null, null, null, null, null]);
    expect(judged.map(({ isLeftOut }) => isLeftOut)).toEqual([false, false, false, true, true, true]);
  });
});

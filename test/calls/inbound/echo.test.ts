import { describe, expect, it } from 'vitest';
import { echoSimilarity, isEcho, mayBeEcho } from '../../../src/calls/inbound/echo.ts';

const PLAYED = 'Thank you for calling. Your balance is forty two dollars. Would you like coffee or tea?';

describe('an echo is told by its words', () => {
  it.each([
    'your balance is forty two dollars',
    'Your balance is forty-two dollars.',
    'thank you for calling your balance',
    'your balanse is forty two dollar',
    'would you like coffee or',
  ])('"%s" is one', (heard) => {
    expect(isEcho(heard, PLAYED)).toBe(true);
  });

  it.each([
    'my balance is wrong I think',
    'dollars two forty is balance your',
    'no wait a moment please',
    'your balance is not what I called for today thank you',
    '',
  ])('"%s" is none', (heard) => {
    expect(isEcho(heard, PLAYED)).toBe(false);
    expect(mayBeEcho(heard, PLAYED)).toBe(false);
  });

  it('is no reason to stop even when it is short, but an answer in our words is still read', () => {
    expect(mayBeEcho('tea', PLAYED)).toBe(true);
    expect(isEcho('tea', PLAYED)).toBe(false);
    expect(isEcho('coffee or', PLAYED)).toBe(false);
  });

  it.each([
    ['Yes, that is right.', 'That is Friday, November twenty seventh at three p m. Is that right?'],
    ['Yes, that is right.', 'That is nine thirty. Is that right?'],
    ['No, that is wrong.', 'That is nine. Is it right, or is that wrong?'],
    ['I want that for seven people.', 'I have a table for seven at eight. Do you want that for your people?'],
  ])('is not what answers with words of ours that were not together: %s', (answer, played) => {
    expect([isEcho(answer, played), mayBeEcho(answer, played)]).toEqual([false, false]);
  });

  it('may begin with yes or no where these were played', () => {
    expect(isEcho('No, that is wrong.', 'Please say: no, that is wrong.')).toBe(true);
  });

  it('is nothing when nothing was played', () => {
    expect(echoSimilarity('hello there you', '')).toBe(0);
    expect(echoSimilarity('', '')).toBe(0);
  });

  it('counts the share of the words heard, in order', () => {
    expect(echoSimilarity('balance is one two', PLAYED)).toBe(0.75);
  });
});

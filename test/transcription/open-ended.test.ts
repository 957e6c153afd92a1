import { describe, expect, it } from 'vitest';
import { grammarHold } from '../../src/transcription/open-ended.ts';

describe('the last words of a phrase', () => {
  it.each([
    ['My account number is.', 'surely'],
    ['The conference is', 'surely'],
    ['Please enter your', 'surely'],
    ['I called because,', 'surely'],
    ["Well, it's", 'surely'],
    ['I need to, um.', 'surely'],
    ['Yes, it is.', 'perhaps'],
    ['I am.', 'perhaps'],
    ['I know where they were.', 'perhaps'],
    ['is', 'perhaps'],
    ['Agent logged in.', 'perhaps'],
    ['Which folder should I save this message to?', 'perhaps'],
    ['I think so.', 'perhaps'],
    ['That is my account.', null],
    ['', null],
    ['…', null],
  ])('of %j hold it: %s', (text, hold) => {
    expect(grammarHold(text, 'en-US')).toBe(hold);
  });

  it('are known in English alone', () => {
    expect(grammarHold('Das ist in', 'de')).toBeNull();
  });
});

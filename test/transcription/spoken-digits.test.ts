import { describe, expect, it } from 'vitest';
import { spokenDigits } from '../../src/transcription/spoken-digits.ts';

describe('what of a text is digits', () => {
  it.each([
    ['Four one five.', 3],
    ['415-555', 6],
    ['(415) 555 0123.', 10],
    ['Five five five, oh one two three.', 7],
    ['double five triple o', 5],
    ['twenty-one forty', 4],
    ['1984', 4],
    ['Nineteen eighty four', 4],
    ['٤٥٦', 3],
  ])('counts the digits of %j', (text, count) => {
    expect(spokenDigits(text)).toEqual({ count, only: true });
  });

  it.each([
    ["Um, it's four one five dash", 3],
    ['My account number is', 0],
    ['My phone number is 415', 3],
    ['and then nine', 1],
  ])('passes over what goes with them in %j', (text, count) => {
    expect(spokenDigits(text)).toEqual({ count, only: true });
  });

  it.each(['I do not know', 'four of them were broken', 'one moment', 'What for?'])(
    'sees other words in %j',
    (text) => {
      expect(spokenDigits(text).only).toBe(false);
    },
  );

  it.each(['', ' … '])('finds nothing in %j', (text) => {
    expect(spokenDigits(text)).toEqual({ count: 0, only: false });
  });
});

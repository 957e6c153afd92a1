import { describe, expect, it } from 'vitest';
import { expectedAnswer, expectedChoice } from '../../../src/flows/understand/expected-answers.ts';
import { UNDERSTOOD_LANGUAGES } from '../../../src/flows/understand/languages/find-words.ts';
import type { Question } from '../../../src/flows/understand/question.ts';
import { MONDAY } from './question.ts';

const asked = (kind: Question['kind'], more: Partial<Question> = {}) =>
  expectedAnswer({ kind, language: 'en-US', now: MONDAY, ...more });
const KINDS = ['yesNo', 'digits', 'phone', 'number', 'date', 'time', 'amount'] as const;

describe('what answers are expected', () => {
  it.each([
    ['yesNo', 'of course'],
    ['digits', 'double'],
    ['phone', 'plus'],
    ['number', 'seventeen'],
    ['date', 'February'],
    ['time', 'oclock'],
    ['amount', 'dollars'],
  ] as const)('of a question for %s are made of words such as %s', (kind, word) => {
    expect(asked(kind)?.words).toContain(word);
  });

  it('of a choice are its phrases', () => {
    const choices = { new: [], old: ['old messages', 'since 2020'] };
    const { words = [], meaningOf } = asked('choice', { choices }) ?? {};
    expect(words).toEqual(expect.arrayContaining(['new', 'old', 'old messages']));
    expect(words).not.toContain('since 2020');
    expect(meaningOf?.('the old messages')).toBe('old');
  });

  it('of a menu are its names and phrases, and numbers', () => {
    const menu = expectedChoice({ openingHours: { key: '4', say: ['when are you open'] } }, 'en');
    expect(menu.words).toEqual(expect.arrayContaining(['opening hours', 'when are you open', 'option', 'four']));
    expect([menu.meaningOf('option four'), menu.meaningOf('bananas')]).toEqual(['openingHours', null]);
  });

  it('of a text can be anything', () => expect(asked('text')).toBeNull());

  it('mean what they give, and texts that give the same mean the same', () => {
    const number = asked('number');
    expect(number?.meaningOf('twelve')).toBe(number?.meaningOf('12 people'));
    expect(number?.meaningOf('bananas')).toBeNull();
    expect(asked('yesNo')?.meaningOf('nope')).toBe('false');
  });

  it('can be a part of the digits: a turn has pauses', () => {
    expect(asked('digits', { min: 5, max: 5 })?.meaningOf('four eight')).toBe('48');
    expect(asked('phone')?.meaningOf('five five five')).toBe('555');
  });

  it.each(UNDERSTOOD_LANGUAGES.flatMap((language) => KINDS.map((kind) => [kind, language] as const)))(
    'of a question for %s in %s are words, none of them twice',
    (kind, language) => {
      const { words = [] } = asked(kind, { language }) ?? {};
      expect(words.length).toBeGreaterThan(10);
      expect(words.length).toBeLessThanOrEqual(500);
      expect(new Set(words).size).toBe(words.length);
      for (const word of words) expect(word).toMatch(/^[\p{L}'’ -]{1,64}$/u);
    },
  );
});

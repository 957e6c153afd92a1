import { describe, expect, it } from 'vitest';
import { answer } from './question.ts';

describe('yes and no as they are said', () => {
  it.each([
    'yes',
    'Yeah.',
    'yes please',
    'um, yes',
    "that's right",
    'Yes, that is correct.',
    'of course',
    'okay, sure',
    'why not',
    'I guess',
    'no problem',
    'no, wait, yes',
    'no, yeah',
    'yes yes yes',
    'I think so',
    'Yes, I would like that very much, and thank you so much for asking me again',
  ])('takes %j as yes', (text) => {
    expect(answer('yesNo', text)).toBe(true);
  });

  it.each([
    'no',
    'Nope.',
    'no thanks',
    'not really',
    'of course not',
    'absolutely not',
    "that's not right",
    'It is not correct',
    "I don't think so",
    'no, that is wrong',
    'incorrect',
    'not at all',
    'yes, no wait, no',
    'yeah, no',
    'no no no',
  ])('takes %j as no', (text) => {
    expect(answer('yesNo', text)).toBe(false);
  });

  it.each([
    'maybe',
    "I don't know",
    'no idea',
    'yes, no wait',
    "no, that's right",
    'sales',
    'Please enter your number',
    'right now I need a doctor',
    'what',
    'I have no appointment but I would like one',
    '',
  ])('takes %j as neither', (text) => {
    expect(answer('yesNo', text)).toBeNull();
  });

  it.each([
    ['de', 'ja bitte', true],
    ['de', 'Genau.', true],
    ['de', 'stimmt', true],
    ['de', 'nein danke', false],
    ['de', 'das stimmt nicht', false],
    ['de', 'auf keinen Fall', false],
    ['de', 'nicht wirklich', false],
    ['de', 'keine Ahnung', null],
    ['de', 'ja, nein Moment, nein', false],
    ['es', 'sí', true],
    ['es', 'Claro que sí.', true],
    ['es', 'claro que no', false],
    ['es', 'no gracias', false],
    ['es', 'no sé', null],
    ['fr', 'oui', true],
    ['fr', "d'accord", true],
    ['fr', "c'est ça", true],
    ['fr', 'pas du tout', false],
    ['fr', "ce n'est pas ça", false],
    ['fr', 'je ne sais pas', null],
  ])('in %s takes %j as %j', (language, text, value) => {
    expect(answer('yesNo', text, { language })).toBe(value);
  });
});

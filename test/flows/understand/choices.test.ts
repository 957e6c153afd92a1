import { describe, expect, it } from 'vitest';
import { chooseSpoken } from '../../../src/flows/understand/choices.ts';
import { answer } from './question.ts';

const MENU = {
  sales: { key: '1', say: ['sales department', 'buying'] },
  support: { key: '2', say: ['technical support', 'help'] },
  billing: { key: '3', say: ['invoice', 'payment'] },
  openingHours: { key: '4' },
  operator: { key: '0', say: ['agent', 'a person'] },
};

const choose = (text: string) => chooseSpoken(text, MENU, 'en-US');

describe('a choice of a menu', () => {
  it.each([
    ['Sales.', 'sales'],
    ['I would like the sales department, please', 'sales'],
    ['Technical support', 'support'],
    ['opening hours', 'openingHours'],
    ['a question about my payment', 'billing'],
    ['can I speak to an agent', 'operator'],
  ])('is known by its name and its phrases: %j', (text, name) => {
    expect(choose(text)).toBe(name);
  });

  it.each([
    ['invoices', 'billing'],
    ['payments', 'billing'],
    ['I want to buy something', 'sales'],
    ['helping', 'support'],
  ])('is known by other forms of its words: %j', (text, name) => {
    expect(choose(text)).toBe(name);
  });

  it.each([
    ['Sails', 'sales'],
    ['sails please', 'sales'],
    ['bill ing', 'billing'],
    ['opening our', 'openingHours'],
    ['technical report', 'support'],
    ['suppord', 'support'],
    ['operater', 'operator'],
  ])('is known by what was misheard: %j', (text, name) => {
    expect(choose(text)).toBe(name);
  });

  it.each([
    ['one', 'sales'],
    ['Two.', 'support'],
    ['option two', 'support'],
    ['number 3', 'billing'],
    ['press one please', 'sales'],
    ['the first one', 'sales'],
    ['the second option', 'support'],
    ['the last one', 'operator'],
    ['zero', 'operator'],
  ])('is known by its key: %j', (text, name) => {
    expect(choose(text)).toBe(name);
  });

  it.each([
    'sales or support',
    'none of these',
    'neither',
    'not sales',
    'I do not want support',
    'something else',
    'weather',
    'nine',
    'one or two',
    'I have two questions',
    'xq',
    'one moment please',
    '',
    'sales '.repeat(200),
  ])('is none where it could be two, or is none: %j', (text) => {
    expect(choose(text)).toBeNull();
  });

  it('is what comes behind "not" and "no wait"', () => {
    expect(choose('not sales but support')).toBe('support');
    expect(choose('sales, no wait, billing')).toBe('billing');
  });

  it('is the longer phrase where one holds the other', () => {
    const menu = { sales: {}, afterSales: { say: ['after sales service'] } };
    expect(chooseSpoken('after sales service', menu, 'en')).toBe('afterSales');
    expect(chooseSpoken('after sales', menu, 'en')).toBe('afterSales');
    expect(chooseSpoken('sales', menu, 'en')).toBe('sales');
  });

  it('counts the places of a list without keys', () => {
    const colours = { red: ['crimson'], green: [], blue: [] };
    const asked = { choices: { ...colours, green: ['emerald'], blue: ['navy'] } };
    expect(answer('choice', 'the second one', asked)).toBe('green');
    expect(answer('choice', 'crimson', asked)).toBe('red');
    expect(answer('choice', 'number four', asked)).toBeNull();
  });

  it.each([
    ['de', 'ich möchte zum Verkauf', 'verkauf'],
    ['de', 'Ferkauf', 'verkauf'],
    ['de', 'nicht Verkauf, sondern Support', 'support'],
    ['de', 'keins davon', null],
    ['de', 'Option zwei', 'support'],
    ['de', 'das erste', 'verkauf'],
    ['de', 'Rechnungen', 'rechnung'],
  ])('in %s: %j', (language, text, name) => {
    const menu = { verkauf: { key: '1' }, support: { key: '2' }, rechnung: { key: '3' } };
    expect(chooseSpoken(text, menu, language)).toBe(name);
  });
});

describe('a text', () => {
  it('is kept as it was said, within its length', () => {
    expect(answer('text', ' Hello, there. ')).toBe('Hello, there.');
    expect(answer('text', '  ')).toBeNull();
    expect(answer('text', 'no', { min: 3 })).toBeNull();
    expect(answer('text', 'nothing', { max: 3 })).toBeNull();
  });
});

describe('what is longer than an answer', () => {
  it.each(['digits', 'number', 'date', 'time', 'yesNo', 'phone', 'amount', 'choice'] as const)(
    'is none to a question for %s',
    (kind) => {
      const choices = { one: ['one'] };
      expect(answer(kind, `tomorrow yes $1 one ${'x'.repeat(600)}`, { choices })).toBeNull();
    },
  );
});

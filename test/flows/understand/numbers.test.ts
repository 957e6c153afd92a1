import { describe, expect, it } from 'vitest';
import { answer } from './question.ts';

describe('digits as they are said', () => {
  it.each([
    ['double five four oh two', '55402'],
    ['Twenty three, forty five.', '2345'],
    ['My number is 1-2-3, 4.', '1234'],
    ['1 2 3 4', '1234'],
    ['1,234', '1234'],
    ['one eight hundred five five five', '1800555'],
    ['one two for five', '1245'],
    ['oh oh seven', '007'],
    ['triple oh seven', '0007'],
    ['007', '007'],
    ['nineteen eighty four', '1984'],
    ['one hundred and five', '105'],
    ["um, it's four five six, thanks", '456'],
    ['4567, no wait, 4568', '4568'],
    ['٤٥٦', '456'],
  ])('understands %j', (text, digits) => {
    expect(answer('digits', text)).toBe(digits);
  });

  it('asks for as many as the question does', () => {
    expect(answer('digits', 'one two three', { min: 4 })).toBeNull();
    expect(answer('digits', 'one two three', { max: 2 })).toBeNull();
    expect(answer('digits', 'one two three four', { min: 4, max: 4 })).toBe('1234');
  });

  it('takes a number that is said twice once', () => {
    expect(answer('digits', '1234, 1234', { min: 4, max: 4 })).toBe('1234');
  });

  it('takes back digits that were taken back', () => {
    expect(answer('digits', 'four five, no wait, six', { min: 3 })).toBeNull();
  });

  it('counts words that sound like digits only where they are needed', () => {
    expect(answer('digits', 'five to seven of them', { min: 3, max: 3 })).toBe('527');
    expect(answer('digits', 'five to seven of them', { min: 2, max: 2 })).toBe('57');
    expect(answer('digits', 'for eight, two, one, three', { min: 5, max: 5 })).toBe('48213');
    expect(answer('digits', 'for eight, two, one, three')).toBe('8213');
    expect(answer('digits', 'I want to go for a walk')).toBeNull();
  });

  it.each([
    ['de', 'zwei drei null fünf', '2305'],
    ['de', 'dreiundzwanzig fünfundvierzig', '2345'],
    ['de', 'zweimal die Fünf', '55'],
    ['de', 'zwo null', '20'],
    ['es', 'doble cinco cuatro', '554'],
    ['fr', 'zéro un quarante-deux soixante-dix-huit quatre-vingt-dix douze', '0142789012'],
  ])('understands %s: %j', (language, text, digits) => {
    expect(answer('digits', text, { language })).toBe(digits);
  });
});

describe('numbers as they are said', () => {
  it.each([
    ['Twelve.', 12],
    ['12', 12],
    ['3rd', 3],
    ['the third', 3],
    ['1,200', 1200],
    ['a hundred and five', 105],
    ['twelve hundred', 1200],
    ['two thousand and one', 2001],
    ['two million three hundred thousand and one', 2_300_001],
    ['2.5 million', 2_500_000],
    ['one point five', 1.5],
    ['three point one four', 3.14],
    ['two and a half', 2.5],
    ['minus twenty', -20],
    ['-5', -5],
    ['twenty twenty seven', 2027],
    ['one two three', 123],
    ['a dozen', 12],
    ['just me', 1],
    ['there are four of us', 4],
    ['five, five please', 5],
    ['For.', 4],
    ['four, I mean five', 5],
  ])('understands %j', (text, value) => {
    expect(answer('number', text)).toBe(value);
  });

  it.each(['five or six', 'between 3 and 5', 'many', '14:30', 'one moment please', ''])(
    'finds no single number in %j',
    (text) => {
      expect(answer('number', text)).toBeNull();
    },
  );

  it('takes no number out of the middle of other talk', () => {
    expect(answer('number', 'Turn left at the station and walk for about 300 feet then stop.')).toBeNull();
    expect(answer('number', 'one second please, it is twelve')).toBe(12);
  });

  it('keeps to the least and the greatest number', () => {
    expect(answer('number', 'twelve', { max: 10 })).toBeNull();
    expect(answer('number', 'zero', { min: 1 })).toBeNull();
    expect(answer('number', 'ten', { min: 1, max: 10 })).toBe(10);
  });

  it.each([
    ['de', 'zweitausenddreihundertfünfundvierzig', 2345],
    ['de', 'drei und zwanzig', 23],
    ['de', 'eine Million', 1_000_000],
    ['de', 'drei Komma fünf', 3.5],
    ['de', '1.200', 1200],
    ['de', '12,5', 12.5],
    ['es', 'doscientos treinta y uno', 231],
    ['es', 'mil quinientos', 1500],
    ['es', 'veintitrés', 23],
    ['fr', 'quatre-vingt-dix-sept', 97],
    ['fr', 'nonante-trois', 93],
    ['fr', 'soixante et onze', 71],
    ['fr', 'deux mille vingt', 2020],
  ])('understands %s: %j', (language, text, value) => {
    expect(answer('number', text, { language })).toBe(value);
  });
});

describe('amounts as they are said', () => {
  it.each([
    ['twelve fifty', 'USD 12.50'],
    ['twelve oh five', 'USD 12.05'],
    ['twelve euros and fifty cents', 'EUR 12.50'],
    ['twelve dollars fifty', 'USD 12.50'],
    ['$12.50', 'USD 12.50'],
    ['$1,200', 'USD 1200.00'],
    ['1,250.50 dollars', 'USD 1250.50'],
    ['€20', 'EUR 20.00'],
    ['fifty cents', 'USD 0.50'],
    ['a hundred and five dollars', 'USD 105.00'],
    ['twenty bucks', 'USD 20.00'],
    ['five thousand yen', 'JPY 5000'],
    ['one pound and one penny', 'GBP 1.01'],
  ])('understands %j', (text, amount) => {
    expect(answer('amount', text)).toBe(amount);
  });

  it('takes the currency of the question, then that of the region', () => {
    expect(answer('amount', 'twelve', { currency: 'EUR' })).toBe('EUR 12.00');
    expect(answer('amount', 'twelve', { language: 'en-GB' })).toBe('GBP 12.00');
    expect(answer('amount', 'zwölf', { language: 'de-CH' })).toBe('CHF 12.00');
    expect(answer('amount', 'twelve dollars', { language: 'en-CA' })).toBe('CAD 12.00');
  });

  it.each(['between 5 and 10 dollars', 'twelve five', 'a lot', 'twenty rows', 'boil dollars and fifty cents', ''])(
    'finds no single amount in %j',
    (text) => {
      expect(answer('amount', text)).toBeNull();
    },
  );

  it.each([
    ['de', 'zwölf Euro fünfzig', 'EUR 12.50'],
    ['de', '12,50 €', 'EUR 12.50'],
    ['de', '12 Euro und 50 Cent', 'EUR 12.50'],
    ['es', 'doce con cincuenta', 'EUR 12.50'],
    ['fr', 'douze euros cinquante', 'EUR 12.50'],
  ])('understands %s: %j', (language, text, amount) => {
    expect(answer('amount', text, { language })).toBe(amount);
  });
});

describe('telephone numbers as they are said', () => {
  it.each([
    ['en-US', '(415) 555-0132', '4155550132'],
    ['en-US', 'four one five, triple five, oh one three two, extension 12', '4155550132'],
    ['en-US', 'zero one one four nine three zero one two three four five', '+493012345'],
    ['en-US', 'plus four nine three oh one two three four five', '+493012345'],
    ['de', '+49 (0)30 123456', '+4930123456'],
    ['de', 'null null vier neun drei null eins zwei drei vier', '+49301234'],
    ['de', 'null drei null eins zwei drei', '030123'],
    ['fr', 'zéro un quarante-deux soixante-dix-huit quatre-vingt-dix douze', '0142789012'],
  ])('understands %s: %j', (language, text, number) => {
    expect(answer('phone', text, { language })).toBe(number);
  });

  it('finds none where there are too few digits, or too many', () => {
    expect(answer('phone', 'one two')).toBeNull();
    expect(answer('phone', 'four one five, five five five, one three two')).toBeNull();
    expect(answer('phone', 'plus four four two')).toBeNull();
    expect(answer('phone', 'one two three four', { min: 4 })).toBe('1234');
    expect(answer('phone', '1234567890'.repeat(3))).toBeNull();
  });
});

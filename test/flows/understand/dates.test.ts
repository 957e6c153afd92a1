import { describe, expect, it } from 'vitest';
import { answer } from './question.ts';

describe('dates as they are said', () => {
  it.each([
    ['today', '2026-11-23'],
    ['Tomorrow.', '2026-11-24'],
    ['the day after tomorrow', '2026-11-25'],
    ['yesterday', '2026-11-22'],
    ['Friday', '2026-11-27'],
    ['next Friday', '2026-11-27'],
    ['this Friday, please', '2026-11-27'],
    ['on Monday', '2026-11-30'],
    ['this Monday', '2026-11-23'],
    ['Friday next week', '2026-12-04'],
    ['next week Tuesday', '2026-12-01'],
    ['next week', '2026-11-30'],
    ['next month', '2026-12-23'],
    ['the third of May', '2027-05-03'],
    ['May 3rd 2027', '2027-05-03'],
    ['May 3rd, 2027.', '2027-05-03'],
    ['May the third', '2027-05-03'],
    ['3rd of May', '2027-05-03'],
    ['Dec 4', '2026-12-04'],
    ['December twenty first', '2026-12-21'],
    ['the twenty-first of December', '2026-12-21'],
    ['January fifth twenty twenty seven', '2027-01-05'],
    ['January fifth two thousand and twenty seven', '2027-01-05'],
    ['January fifth nineteen eighty four', '1984-01-05'],
    ['November 23', '2026-11-23'],
    ['November 22', '2027-11-22'],
    ['February 29', '2028-02-29'],
    ['the fifteenth', '2026-12-15'],
    ['on the 25th', '2026-11-25'],
    ['the fifteen', '2026-12-15'],
    ['fifteen', '2026-12-15'],
    ['Friday the fourth', '2026-12-04'],
    ['Friday the fourth of December', '2026-12-04'],
    ['in two weeks', '2026-12-07'],
    ['in a week', '2026-11-30'],
    ['in three days', '2026-11-26'],
    ['two days from now', '2026-11-25'],
    ['a week from tomorrow', '2026-12-01'],
    ['a week from Friday', '2026-12-04'],
    ['Tuesday in two weeks', '2026-12-08'],
    ['in one month', '2026-12-23'],
    ['12/05', '2026-12-05'],
    ['12/5/2027', '2027-12-05'],
    ['12/05/27', '2027-12-05'],
    ['25/12', '2026-12-25'],
    ['2027-05-03', '2027-05-03'],
    ['Let us say December 10th at nine', '2026-12-10'],
    ['Monday, no wait, Tuesday', '2026-11-24'],
    ['٢٠٢٧-٠٥-٠٣', '2027-05-03'],
  ])('understands %j', (text, day) => {
    expect(answer('date', text)).toBe(day);
  });

  it.each([
    'two thousand twenty seven',
    'nine thirty',
    'on the third of me',
    'fifteen people came',
    'I do not know',
    'May I speak to someone',
    'Monday or Tuesday',
    'February 30',
    '13/13/2027',
    '2027-02-29',
    'the thirty second of May',
    'in five thousand years',
    '',
  ])('finds no date in %j', (text) => {
    expect(answer('date', text)).toBeNull();
  });

  it('takes the order of day and month from the region', () => {
    expect(answer('date', '12/05', { language: 'en-GB' })).toBe('2027-05-12');
    expect(answer('date', '12/05', { language: 'en' })).toBe('2026-12-05');
    expect(answer('date', '12/05', { language: 'de' })).toBe('2027-05-12');
  });

  it("counts from the caller's own day", () => {
    expect(answer('date', 'today', { timeZone: 'America/Los_Angeles' })).toBe('2026-11-22');
    expect(answer('date', 'tomorrow', { timeZone: 'America/Los_Angeles' })).toBe('2026-11-23');
  });

  it.each([
    ['heute', '2026-11-23'],
    ['morgen', '2026-11-24'],
    ['Übermorgen.', '2026-11-25'],
    ['am Freitag', '2026-11-27'],
    ['nächsten Freitag', '2026-11-27'],
    ['Freitag nächster Woche', '2026-12-04'],
    ['am dritten Mai', '2027-05-03'],
    ['dritter Mai', '2027-05-03'],
    ['der dritte fünfte', '2027-05-03'],
    ['am dritten fünften zweitausendsiebenundzwanzig', '2027-05-03'],
    ['3. Mai 2027', '2027-05-03'],
    ['am 3.5.', '2027-05-03'],
    ['12.5.', '2027-05-12'],
    ['am einundzwanzigsten Dezember', '2026-12-21'],
    ['am 1. Dezember', '2026-12-01'],
    ['in zwei Wochen', '2026-12-07'],
    ['in vierzehn Tagen', '2026-12-07'],
    ['Dienstag in einer Woche', '2026-12-01'],
    ['am fünfzehnten', '2026-12-15'],
    ['Heiligabend', null],
  ])('understands German: %j', (text, day) => {
    expect(answer('date', text, { language: 'de-DE' })).toBe(day);
  });

  it.each([
    ['mañana', '2026-11-24'],
    ['pasado mañana', '2026-11-25'],
    ['el tres de mayo', '2027-05-03'],
    ['el primero de mayo de dos mil veintisiete', '2027-05-01'],
    ['el martes que viene', '2026-11-24'],
    ['dentro de dos semanas', '2026-12-07'],
    ['3/5/2027', '2027-05-03'],
  ])('understands Spanish: %j', (text, day) => {
    expect(answer('date', text, { language: 'es' })).toBe(day);
  });

  it.each([
    ['demain', '2026-11-24'],
    ['après-demain', '2026-11-25'],
    ['le premier mai', '2027-05-01'],
    ['le 1er mai', '2027-05-01'],
    ['lundi prochain', '2026-11-30'],
    ['dans deux semaines', '2026-12-07'],
    ["aujourd'hui", '2026-11-23'],
    ['le vingt et un décembre deux mille vingt-six', '2026-12-21'],
  ])('understands French: %j', (text, day) => {
    expect(answer('date', text, { language: 'fr' })).toBe(day);
  });
});

describe('dates within bounds', () => {
  it.each([
    ['today', { min: 0 }, '2026-11-23'],
    ['yesterday', { min: 0 }, null],
    ['yesterday', { max: 0 }, '2026-11-22'],
    ['tomorrow', { max: 0 }, null],
    ['in a week', { min: 1, max: 7 }, '2026-11-30'],
    ['in eight days', { min: 1, max: 7 }, null],
    ['tomorrow, no wait, today', { min: 0 }, '2026-11-23'],
    // What was taken back is no answer, whatever it was taken back for.
    ['tomorrow, no wait, yesterday', { min: 0 }, null],
  ])('%s within %o', (text, bounds, day) => {
    expect(answer('date', text, bounds)).toBe(day);
  });
});

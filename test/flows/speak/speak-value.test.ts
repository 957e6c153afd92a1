import { describe, expect, it } from 'vitest';
import type { FlowValue } from '../../../src/flows/file/conditions.ts';
import type { ValueFormat } from '../../../src/flows/prompts/prompt-text.ts';
import { speakValue } from '../../../src/flows/speak/speak-value.ts';
import { moveDay, writeDay } from '../../../src/flows/understand/kinds/days.ts';
import type { Question } from '../../../src/flows/understand/question.ts';
import { understand } from '../../../src/flows/understand/understand.ts';
import { normaliseText } from '../../../src/speech/normalise.ts';
import { uniform } from '../../helpers/signals.ts';

const NOW = new Date('2026-11-23T12:00:00Z');

describe('values as they are said', () => {
  it.each<[string, FlowValue, ValueFormat | 'text', string]>([
    ['en', '48213', 'digits', 'four eight two, one three'],
    ['en', 1234.05, 'number', 'one thousand two hundred thirty four point zero five'],
    ['en', -3, 'number', 'minus three'],
    ['en', '2027-05-03', 'date', 'May third, twenty twenty seven'],
    ['en', '03:15', 'time', 'three fifteen a m'],
    ['en', '12:00', 'time', 'noon'],
    ['en', '21:05', 'time', 'nine oh five p m'],
    ['en', 'EUR 12.50', 'amount', 'twelve euros and fifty cents'],
    ['en', 'USD 1.01', 'amount', 'one dollar and one cent'],
    ['en', 'EUR 0.21', 'amount', 'twenty one cents'],
    ['en', 'SEK 5.50', 'amount', 'five point five zero SEK'],
    ['en', '+14155550132', 'phone', 'plus one, four one five, five five five, zero one three two'],
    ['en', 'ab-12', 'spell', 'A, B, dash, one, two'],
    ['en', true, 'text', 'yes'],
    ['en', null, 'text', ''],
    ['en', 'Anna', 'text', 'Anna'],
    ['en', 'soon', 'date', 'soon'],
    ['en', '2027-02-30', 'date', '2027-02-30'],
    ['it', '2027-05-03', 'date', '2027-05-03'],
    ['de-DE', '2027-05-03', 'date', 'dritten Mai zweitausendsiebenundzwanzig'],
    ['de', '03:15', 'time', 'drei Uhr fünfzehn nachts'],
    ['de', '14:30', 'time', 'vierzehn Uhr dreißig'],
    ['de', 'EUR 1.01', 'amount', 'ein Euro und ein Cent'],
    ['de', 1_002_021, 'number', 'eine Million zweitausendeinundzwanzig'],
    ['es', '2027-05-01', 'date', 'primero de mayo de dos mil veintisiete'],
    ['es', 'EUR 21.50', 'amount', 'veintiún euros con cincuenta céntimos'],
    ['es', 'GBP 200.00', 'amount', 'doscientas libras'],
    ['fr', '2027-05-01', 'date', 'premier mai deux mille vingt-sept'],
    ['fr', '+33142789012', 'phone', 'plus trois trois, un quatre deux, sept huit, neuf zéro, un deux'],
    ['fr', 1_000_081, 'number', 'un million quatre-vingt-un'],
  ])('in %s says %j as %s: %s', (language, value, format, said) => {
    expect(speakValue(value, format, language)).toBe(said);
  });

  it('says a near day with its weekday and without its year', () => {
    const near = { now: NOW, timeZone: 'Europe/Berlin' };
    expect(speakValue('2026-12-01', 'date', 'en', near)).toBe('Tuesday, December first');
    expect(speakValue('2027-12-01', 'date', 'en', near)).toBe('December first, twenty twenty seven');
    expect(speakValue('2026-11-22', 'date', 'en', near)).toBe('November twenty second, twenty twenty six');
  });

  it('takes the currency of the question for an amount without one', () => {
    expect(speakValue(12.5, 'amount', 'en', { currency: 'EUR' })).toBe('twelve euros and fifty cents');
    expect(speakValue(12, 'amount', 'en')).toBe('twelve');
  });
});

/** Values of each kind, the same in every run. */
function valuesOf(kind: Question['kind']): readonly FlowValue[] {
  const random = uniform(18);
  const whole = (below: number): number => Math.floor(random() * below);
  const digits = (length: number): string => Array.from({ length }, () => whole(10)).join('');
  const many = <Value>(make: (index: number) => Value): Value[] =>
    Array.from({ length: 200 }, (_, index) => make(index));
  switch (kind) {
    case 'digits':
      return many(() => digits(1 + whole(16)));
    case 'number':
      return [
        ...Array.from({ length: 1200 }, (_, index) => index),
        ...many((index) => whole(10 ** (1 + (index % 11)))),
        ...many(() => -whole(5000) / 100),
      ];
    case 'date':
      return many((index) => writeDay(moveDay({ year: 1900, month: 1, day: 1 }, index * 511 + whole(200), 'day')));
    case 'time':
      return Array.from({ length: 1440 }, (_, minutes) =>
        [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0')).join(':'),
      );
    case 'phone':
      return many((index) => `${index % 2 === 0 ? '+49' : '04'}${1 + whole(9)}${digits(7 + whole(4))}`);
    case 'amount':
      return ['EUR', 'USD', 'GBP', 'CHF'].flatMap((currency) =>
        many((index) => `${currency} ${(index < 100 ? whole(2000) / 100 : whole(10_000_000) / 100).toFixed(2)}`),
      );
    default:
      return [true, false];
  }
}

/** Nobody names the currency of "fifty cents". */
function asked(kind: Question['kind'], language: string, value: FlowValue): Question {
  return { kind, language, now: NOW, currency: kind === 'amount' ? String(value).slice(0, 3) : undefined };
}

describe('what is said is understood', () => {
  const kinds: readonly [Question['kind'], ValueFormat | 'text'][] = [
    ['digits', 'digits'],
    ['number', 'number'],
    ['date', 'date'],
    ['time', 'time'],
    ['phone', 'phone'],
    ['amount', 'amount'],
    ['yesNo', 'text'],
  ];
  const cases = ['en', 'de', 'es', 'fr'].flatMap((language) => kinds.map((kind) => [language, ...kind] as const));

  it.each(cases)('in %s, each value of %s', (language, kind, format) => {
    const wrong = valuesOf(kind).flatMap((value) => {
      const said = speakValue(value, format, language);
      const understood = understand(said, asked(kind, language, value))?.value ?? null;
      return understood === value ? [] : [{ value, said, understood }];
    });
    expect(wrong).toEqual([]);
  });

  it.each(cases)('in %s, each value of %s with the capitals and stops of a recogniser', (language, kind, format) => {
    const wrong = valuesOf(kind).flatMap((value) => {
      const said = speakValue(value, format, language);
      const text = `${said.charAt(0).toUpperCase()}${said.slice(1)}.`;
      return understand(text, asked(kind, language, value))?.value === value ? [] : [text];
    });
    expect(wrong).toEqual([]);
  });

  it.each(kinds)('%s: the normaliser leaves the words as they are', (kind, format) => {
    const changed = valuesOf(kind).flatMap((value) => {
      const said = speakValue(value, format, 'en');
      return normaliseText(said) === said ? [] : [`${said} → ${normaliseText(said)}`];
    });
    expect(changed).toEqual([]);
  });

  it('a near day without its year, in each language', () => {
    for (const language of ['en', 'de', 'es', 'fr']) {
      for (let ahead = 0; ahead <= 330; ahead++) {
        const day = writeDay(moveDay({ year: 2026, month: 11, day: 23 }, ahead, 'day'));
        const said = speakValue(day, 'date', language, { now: NOW });
        expect([said, understand(said, { kind: 'date', language, now: NOW })?.value]).toEqual([said, day]);
      }
    }
  });
});

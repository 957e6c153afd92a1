import type { SpokenLanguage } from './spoken-language.ts';

/** January is the first. */
export const GERMAN_MONTHS: readonly string[] =
  'Januar Februar März April Mai Juni Juli August September Oktober November Dezember'.split(' ');
/** Sunday is the first. */
export const GERMAN_WEEKDAYS: readonly string[] = 'Sonntag Montag Dienstag Mittwoch Donnerstag Freitag Samstag'.split(
  ' ',
);

const SMALL = (
  'null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf ' +
  'dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn'
).split(' ');
const TENS = 'null zehn zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig'.split(' ');
const IRREGULAR: Readonly<Record<number, string>> = { 1: 'erste', 3: 'dritte', 7: 'siebte', 8: 'achte' };
const MILLION = 1_000_000;
const MILLIARD = 1_000_000_000;

function belowThousand(value: number): string {
  if (value >= 100) {
    const rest = value % 100;
    return `${joined(Math.floor(value / 100))}hundert${rest === 0 ? '' : belowThousand(rest)}`;
  }
  if (value < 20) return SMALL[value] ?? '';
  const tens = TENS[Math.floor(value / 10)] ?? '';
  return value % 10 === 0 ? tens : `${joined(value % 10)}und${tens}`;
}

/** As the first part of a word: `ein`, not `eins`. */
function joined(value: number): string {
  return belowThousand(value).replace(/eins$/, 'ein');
}

function scaled(value: number, one: string, many: string): string {
  return value === 1 ? `eine ${one}` : `${belowThousand(value)} ${many}`;
}

/** `23` → `dreiundzwanzig`. */
export function germanCardinal(value: number): string {
  if (value >= MILLIARD) return above(value, MILLIARD, 'Milliarde', 'Milliarden');
  if (value >= MILLION) return above(value, MILLION, 'Million', 'Millionen');
  if (value < 1000) return belowThousand(value);
  const rest = value % 1000;
  return `${joined(Math.floor(value / 1000))}tausend${rest === 0 ? '' : belowThousand(rest)}`;
}

function above(value: number, scale: number, one: string, many: string): string {
  const rest = value % scale;
  return `${scaled(Math.floor(value / scale), one, many)}${rest === 0 ? '' : ` ${germanCardinal(rest)}`}`;
}

/** `3` → `dritte`, from 1 to 99. Other cases add a letter: `dritten`. */
export function germanOrdinal(value: number): string {
  return IRREGULAR[value] ?? `${germanCardinal(value)}${value < 20 ? 'te' : 'ste'}`;
}

function year(value: number): string {
  if (value < 1100 || value > 1999) return germanCardinal(value);
  const rest = value % 100;
  return `${germanCardinal(Math.floor(value / 100))}hundert${rest === 0 ? '' : germanCardinal(rest)}`;
}

/** German. Days stand as after "am": "dritten Mai". */
export const GERMAN: SpokenLanguage = {
  code: 'de',
  digits: SMALL.slice(0, 10),
  cardinal: germanCardinal,
  counted: (value) => germanCardinal(value).replace(/eins$/, 'ein'),
  date(date, withYear) {
    const said = `${germanOrdinal(date.day)}n ${GERMAN_MONTHS[date.month - 1]}`;
    return withYear ? `${said} ${year(date.year)}` : `${GERMAN_WEEKDAYS[date.weekday]}, den ${said}`;
  },
  time(hour, minute) {
    const half = hour < 5 ? ' nachts' : ' morgens';
    const hours = hour === 1 ? 'ein' : germanCardinal(hour);
    return `${hours} Uhr${minute === 0 ? '' : ` ${germanCardinal(minute)}`}${hour > 0 && hour < 7 ? half : ''}`;
  },
  currencies: {
    EUR: ['Euro', 'Euro', 'Cent', 'Cent'],
    USD: ['Dollar', 'Dollar', 'Cent', 'Cent'],
    GBP: ['Pfund', 'Pfund', 'Penny', 'Pence'],
    CHF: ['Franken', 'Franken', 'Rappen', 'Rappen'],
    JPY: ['Yen', 'Yen'],
  },
  partsAnd: ' und ',
  minus: 'minus',
  point: 'Komma',
  plus: 'plus',
  yes: 'ja',
  no: 'nein',
  signs: {
    '-': 'Bindestrich',
    '.': 'Punkt',
    '@': 'at',
    '/': 'Schrägstrich',
    _: 'Unterstrich',
    '+': 'plus',
    '#': 'Raute',
    '*': 'Stern',
  },
};

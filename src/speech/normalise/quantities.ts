/** Numbers with a unit, ranges, fractions, ordinals and dimensions. */
import { cardinal, NOT_INSIDE, NUMBER, numberWords, ordinal, plural, yearWords } from './words.ts';

/** Symbol → singular; the plural ends in `s` unless {@link PLURALS} has another. */
const UNITS: Readonly<Record<string, string>> = Object.freeze({
  km: 'kilometer',
  cm: 'centimeter',
  mm: 'millimeter',
  m: 'meter',
  mi: 'mile',
  yd: 'yard',
  ft: 'foot',
  'm²': 'square meter',
  m2: 'square meter',
  'km²': 'square kilometer',
  'm³': 'cubic meter',
  'sq ft': 'square foot',
  'sq. ft.': 'square foot',
  kg: 'kilogram',
  g: 'gram',
  mg: 'milligram',
  lb: 'pound',
  lbs: 'pound',
  oz: 'ounce',
  L: 'liter',
  l: 'liter',
  ml: 'milliliter',
  mL: 'milliliter',
  gal: 'gallon',
  ms: 'millisecond',
  s: 'second',
  sec: 'second',
  secs: 'second',
  min: 'minute',
  mins: 'minute',
  h: 'hour',
  hr: 'hour',
  hrs: 'hour',
  yr: 'year',
  yrs: 'year',
  kB: 'kilobyte',
  KB: 'kilobyte',
  MB: 'megabyte',
  GB: 'gigabyte',
  TB: 'terabyte',
  Hz: 'hertz',
  kHz: 'kilohertz',
  MHz: 'megahertz',
  GHz: 'gigahertz',
  W: 'watt',
  kW: 'kilowatt',
  kWh: 'kilowatt hour',
  V: 'volt',
  mA: 'milliamp',
  mAh: 'milliamp hour',
  dB: 'decibel',
  mph: 'mile per hour',
  kbps: 'kilobit per second',
  Mbps: 'megabit per second',
  Gbps: 'gigabit per second',
  '°C': 'degree Celsius',
  '°F': 'degree Fahrenheit',
  '°': 'degree',
});

const PER: Readonly<Record<string, string>> = Object.freeze({
  s: 'second',
  sec: 'second',
  min: 'minute',
  h: 'hour',
  hr: 'hour',
  kg: 'kilogram',
});

/** Irregular plurals. */
const PLURALS: Readonly<Record<string, string>> = Object.freeze({
  foot: 'feet',
  'square foot': 'square feet',
  hertz: 'hertz',
  kilohertz: 'kilohertz',
  megahertz: 'megahertz',
  gigahertz: 'gigahertz',
});

const longestFirst = (a: string, b: string): number => b.length - a.length;
const escaped = (unit: string): string => unit.replace(/\./g, '\\.');
const UNIT = Object.keys(UNITS).sort(longestFirst).map(escaped).join('|');
const WITH_UNIT = new RegExp(
  String.raw`${NOT_INSIDE}(${NUMBER})( ?|-)(${UNIT})(?:/(s|sec|min|h|hr|kg))?(?!\w|['’][a-z])`,
  'g',
);

const RANGE = new RegExp(String.raw`(?<![\w.,-])(${NUMBER})(%?)-(?=${NUMBER}(?![\w-]*[a-zA-Z]-|-))`, 'g');
const PERCENT = new RegExp(`${NOT_INSIDE}(${NUMBER}) ?%`, 'g');
const THOUSANDS = new RegExp(String.raw`${NOT_INSIDE}(${NUMBER})(?:k|(?<=\d\d)K)(?!\w)`, 'g');
const TIMES = new RegExp(String.raw`${NOT_INSIDE}(${NUMBER})x(?!\w)`, 'g');
const DIMENSIONS = /(?<=\d) ?x ?(?=\d)/g;
const MINUS = /(?<![\w)\]."'-])-(?=\d)/g;
const FOOT_AND_INCH = /(?<![\w.,])(\d)'(\d{1,2})(?:"|'')/g;
const FRACTION = /(?<![\w/.,-])(?:(\d{1,3}) )?(\d{1,2})\/(\d{1,3})(?![\w/]|\.\d)/g;
const ORDINAL = /(?<![\w.,])(\d{1,3}(?:,\d{3}){0,3}|\d{1,9})(?:st|nd|rd|th)(?!\w)/g;
/** Bare `90s` are seconds. */
const DECADE = /(?<![\w.,])(?:(?<=the )|'|(?=\d{4}))(1\d|20)?(\d0)s(?!\w)/gi;

/** Numbers with a fixed expression. */
const SET_PHRASES: Readonly<Record<string, string>> = Object.freeze({
  '24/7': 'twenty four seven',
  '50/50': 'fifty fifty',
  '9/11': 'nine eleven',
});
const PARTS: Readonly<Record<number, string>> = Object.freeze({ 2: 'half', 4: 'quarter' });
const PART_MAX = 16;

/** `5-10 kg` → `5 to ten kilograms`: writes out units, percentages, ordinals and fractions; other numbers stay. */
export function sayQuantities(text: string): string {
  return text
    .replace(RANGE, '$1$2 to ')
    .replace(MINUS, 'minus ')
    .replace(DIMENSIONS, ' by ')
    .replace(DECADE, (_, century: string | undefined, decade: string) =>
      plural(yearWords(Number(`${century ?? ''}${decade}`))),
    )
    .replace(WITH_UNIT, (_, number: string, between: string, unit: string, per?: string) =>
      sayUnit({ number, between, unit, per }),
    )
    .replace(PERCENT, (_, number: string) => `${numberWords(number)} percent`)
    .replace(THOUSANDS, (_, number: string) => `${numberWords(number)} thousand`)
    .replace(TIMES, (_, number: string) => `${numberWords(number)} times`)
    .replace(
      FOOT_AND_INCH,
      (_, feet: string, inches: string) => `${cardinal(Number(feet))} foot ${cardinal(Number(inches))}`,
    )
    .replace(FRACTION, (match, whole: string | undefined, top: string, bottom: string) => {
      const said = SET_PHRASES[`${top}/${bottom}`] ?? sayFraction(Number(top), Number(bottom));
      if (whole === undefined) return said;
      return Number(top) < Number(bottom) ? `${cardinal(Number(whole))} and ${said}` : match;
    })
    .replace(ORDINAL, (_, number: string) => ordinal(Number(number.replaceAll(',', ''))));
}

function sayUnit({
  number,
  between,
  unit,
  per,
}: {
  number: string;
  between: string;
  unit: string;
  per: string | undefined;
}): string {
  const one = UNITS[unit] ?? unit;
  const isSingle = number === '1' || between === '-';
  return `${numberWords(number)} ${isSingle ? one : several(one)}${per === undefined ? '' : ` per ${PER[per] ?? per}`}`;
}

/** `mile per hour` → `miles per hour`, `degree Celsius` → `degrees Celsius`. */
function several(unit: string): string {
  return PLURALS[unit] ?? unit.replace(/^(?:degree|(?:\w+(?= per))|.*)/, '$&s');
}

function sayFraction(top: number, bottom: number): string {
  if (bottom < 2 || bottom > PART_MAX) return `${cardinal(top)} over ${cardinal(bottom)}`;
  const part = PARTS[bottom] ?? ordinal(bottom);
  return `${cardinal(top)} ${top === 1 ? part : part === 'half' ? 'halves' : plural(part)}`;
}

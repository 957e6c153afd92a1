import type { SpokenLanguage } from './spoken-language.ts';

/** January is the first. */
export const FRENCH_MONTHS: readonly string[] =
  'janvier février mars avril mai juin juillet août septembre octobre novembre décembre'.split(' ');
/** Sunday is the first. */
export const FRENCH_WEEKDAYS: readonly string[] = 'dimanche lundi mardi mercredi jeudi vendredi samedi'.split(' ');

const SMALL = (
  'zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize ' +
  'dix-sept dix-huit dix-neuf'
).split(' ');
const TENS = 'zéro dix vingt trente quarante cinquante soixante'.split(' ');
/** Currencies. */
const FEMININE = new Set(['livre']);
const MILLION = 1_000_000;
const MILLIARD = 1_000_000_000;

function belowHundred(value: number): string {
  if (value < 20) return SMALL[value] ?? '';
  if (value >= 80) return value === 80 ? 'quatre-vingts' : `quatre-vingt-${SMALL[value - 80]}`;
  const base = Math.min(Math.floor(value / 10), 6);
  const rest = value - base * 10;
  if (rest === 0) return TENS[base] ?? '';
  return `${TENS[base]}${rest === 1 || rest === 11 ? ' et ' : '-'}${SMALL[rest]}`;
}

function belowThousand(value: number): string {
  if (value < 100) return belowHundred(value);
  const [many, rest] = [Math.floor(value / 100), value % 100];
  if (many > 1 && rest === 0) return `${SMALL[many]} cents`;
  return `${many === 1 ? '' : `${SMALL[many]} `}cent${rest === 0 ? '' : ` ${belowHundred(rest)}`}`;
}

/** `97` → `quatre-vingt-dix-sept`. */
export function frenchCardinal(value: number): string {
  if (value >= MILLIARD) return above(value, MILLIARD, 'milliard');
  if (value >= MILLION) return above(value, MILLION, 'million');
  if (value < 1000) return belowThousand(value);
  const [many, rest] = [Math.floor(value / 1000), value % 1000];
  const said = many === 1 ? 'mille' : `${belowThousand(many).replace(/(cent|vingt)s$/, '$1')} mille`;
  return rest === 0 ? said : `${said} ${belowThousand(rest)}`;
}

function above(value: number, scale: number, name: string): string {
  const [many, rest] = [Math.floor(value / scale), value % scale];
  return `${belowThousand(many)} ${name}${many > 1 ? 's' : ''}${rest === 0 ? '' : ` ${frenchCardinal(rest)}`}`;
}

/** French of France. */
export const FRENCH: SpokenLanguage = {
  code: 'fr',
  digits: SMALL.slice(0, 10),
  cardinal: frenchCardinal,
  counted: (value, noun) => frenchCardinal(value).replace(/\bun$/, FEMININE.has(noun) ? 'une' : 'un'),
  date({ year, month, day, weekday }, withYear) {
    const said = `${day === 1 ? 'premier' : frenchCardinal(day)} ${FRENCH_MONTHS[month - 1]}`;
    return withYear ? `${said} ${frenchCardinal(year)}` : `${FRENCH_WEEKDAYS[weekday]} ${said}`;
  },
  time(hour, minute) {
    if (minute === 0 && hour % 12 === 0) return hour === 0 ? 'minuit' : 'midi';
    const hours = hour === 1 || hour === 21 ? frenchCardinal(hour).replace(/un$/, 'une') : frenchCardinal(hour);
    const minutes = minute === 0 ? '' : ` ${frenchCardinal(minute)}`;
    return `${hours} heure${hour > 1 ? 's' : ''}${minutes}${hour > 0 && hour < 7 ? ' du matin' : ''}`;
  },
  currencies: {
    EUR: ['euro', 'euros', 'centime', 'centimes'],
    USD: ['dollar', 'dollars', 'centime', 'centimes'],
    CAD: ['dollar canadien', 'dollars canadiens', 'centime', 'centimes'],
    GBP: ['livre', 'livres', 'penny', 'pence'],
    CHF: ['franc suisse', 'francs suisses', 'centime', 'centimes'],
    JPY: ['yen', 'yens'],
  },
  partsAnd: ' et ',
  minus: 'moins',
  point: 'virgule',
  plus: 'plus',
  yes: 'oui',
  no: 'non',
  signs: { '-': 'tiret', '.': 'point', '@': 'arobase', '/': 'barre oblique', '+': 'plus', '#': 'dièse', '*': 'étoile' },
};

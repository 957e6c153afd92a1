/** Amounts of money. */
import { cardinal, NUMBER, numberWords } from './words.ts';

interface Currency {
  readonly one: string;
  readonly many: string;
  /** The hundredth part; missing when the currency has none. */
  readonly part?: { readonly one: string; readonly many: string };
}

const CENT = { one: 'cent', many: 'cents' };
const DOLLAR: Currency = { one: 'dollar', many: 'dollars', part: CENT };
const EURO: Currency = { one: 'euro', many: 'euros', part: CENT };
const POUND: Currency = { one: 'pound', many: 'pounds', part: { one: 'penny', many: 'pence' } };
const YEN: Currency = { one: 'yen', many: 'yen' };
const RUPEE: Currency = { one: 'rupee', many: 'rupees' };

const dollarsOf = (country: string): Currency => ({ one: `${country} dollar`, many: `${country} dollars`, part: CENT });

const CURRENCIES: Readonly<Record<string, Currency>> = Object.freeze({
  $: DOLLAR,
  '€': EURO,
  '£': POUND,
  '¥': YEN,
  '₹': RUPEE,
  US$: dollarsOf('U S'),
  C$: dollarsOf('Canadian'),
  A$: dollarsOf('Australian'),
  USD: dollarsOf('U S'),
  CAD: dollarsOf('Canadian'),
  AUD: dollarsOf('Australian'),
  EUR: EURO,
  GBP: POUND,
  JPY: YEN,
  INR: RUPEE,
  CHF: { one: 'Swiss franc', many: 'Swiss francs' },
});

const SCALES: Readonly<Record<string, string>> = Object.freeze({
  k: 'thousand',
  K: 'thousand',
  m: 'million',
  M: 'million',
  mn: 'million',
  B: 'billion',
  bn: 'billion',
  T: 'trillion',
});

const PERIODS: Readonly<Record<string, string>> = Object.freeze({
  mo: 'month',
  yr: 'year',
  hr: 'hour',
  h: 'hour',
  wk: 'week',
  min: 'minute',
});

const SYMBOL = String.raw`(?:US\$|C\$|A\$|[$€£¥₹])`;
const CODE = '(?:USD|CAD|AUD|EUR|GBP|JPY|INR|CHF)';
const SCALE = String.raw`(?: ?(thousand|million|billion|trillion|mn|bn|[kKmMBT])(?!\w))?`;
const PERIOD = String.raw`(?:\/([a-z]{1,12})(?!\w))?`;
const IN_FRONT = String.raw`(?<![\w.,$€£])`;

const RANGE = new RegExp(`${IN_FRONT}(${SYMBOL}) ?(${NUMBER}) ?- ?${SYMBOL}?(?=${NUMBER})`, 'g');
const BEFORE = new RegExp(
  String.raw`${IN_FRONT}(-?)(${SYMBOL}|${CODE}) ?(-?)(${NUMBER})${SCALE}${PERIOD}(?!\d|,\d)`,
  'g',
);
const BEHIND = new RegExp(String.raw`${IN_FRONT}(-?)(${NUMBER})${SCALE} ?(${CODE}(?!\w)|[€£¥₹$](?!\d))${PERIOD}`, 'g');

/** `$42.50` → `forty two dollars and fifty cents`; symbols and codes, before or after the number. */
export function sayMoney(text: string): string {
  return text
    .replace(RANGE, (_, symbol: string, from: string) => `${numberWords(from)} to ${symbol}`)
    .replace(
      BEFORE,
      (match, sign: string, currency: string, minus: string, number: string, scale?: string, period?: string) =>
        say(match, { sign: sign || minus, currency, number, scale, period }),
    )
    .replace(
      BEHIND,
      (match, sign: string, number: string, scale: string | undefined, currency: string, period?: string) =>
        say(match, { sign, currency, number, scale, period }),
    );
}

interface Amount {
  readonly sign: string;
  readonly currency: string;
  readonly number: string;
  readonly scale: string | undefined;
  readonly period: string | undefined;
}

function say(match: string, { sign, currency, number, scale, period }: Amount): string {
  const money = CURRENCIES[currency];
  if (money === undefined) return match;
  const amount =
    scale === undefined ? sayAmount(number, money) : `${numberWords(number)} ${SCALES[scale] ?? scale} ${money.many}`;
  return `${sign && 'minus '}${amount}${period === undefined ? '' : ` per ${PERIODS[period] ?? period}`}`;
}

function sayAmount(number: string, { one, many, part }: Currency): string {
  const [whole = '', fraction = ''] = number.replaceAll(',', '').split('.');
  const parts = Number(fraction.padEnd(2, '0'));
  if (fraction.length > 2 || (part === undefined && parts > 0)) return `${numberWords(number)} ${many}`;
  const units = Number(whole);
  const saidUnits = `${numberWords(whole)} ${units === 1 ? one : many}`;
  if (part === undefined || parts === 0) return saidUnits;
  const saidParts = `${cardinal(parts)} ${parts === 1 ? part.one : part.many}`;
  return units === 0 ? saidParts : `${saidUnits} and ${saidParts}`;
}

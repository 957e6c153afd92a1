import { cardinal, digitWords, ordinal, yearWords } from '../../../speech/normalise/words.ts';
import type { SpokenLanguage } from './spoken-language.ts';

/** January is the first. */
export const ENGLISH_MONTHS: readonly string[] =
  'January February March April May June July August September October November December'.split(' ');
/** Sunday is the first. */
export const ENGLISH_WEEKDAYS: readonly string[] = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(
  ' ',
);

/** English, as the normaliser's voices speak it. */
export const ENGLISH: SpokenLanguage = {
  code: 'en',
  digits: Array.from('0123456789', digitWords),
  cardinal,
  counted: cardinal,
  date({ year, month, day, weekday }, withYear) {
    const said = `${ENGLISH_MONTHS[month - 1]} ${ordinal(day)}`;
    return withYear ? `${said}, ${yearWords(year)}` : `${ENGLISH_WEEKDAYS[weekday]}, ${said}`;
  },
  time(hour, minute) {
    if (minute === 0 && hour % 12 === 0) return hour === 0 ? 'midnight' : 'noon';
    const minutes = minute === 0 ? '' : ` ${minute < 10 ? 'oh ' : ''}${cardinal(minute)}`;
    return `${cardinal(hour % 12 || 12)}${minutes} ${hour < 12 ? 'a' : 'p'} m`;
  },
  currencies: {
    EUR: ['euro', 'euros', 'cent', 'cents'],
    USD: ['dollar', 'dollars', 'cent', 'cents'],
    CAD: ['Canadian dollar', 'Canadian dollars', 'cent', 'cents'],
    AUD: ['Australian dollar', 'Australian dollars', 'cent', 'cents'],
    GBP: ['pound', 'pounds', 'penny', 'pence'],
    CHF: ['Swiss franc', 'Swiss francs', 'centime', 'centimes'],
    JPY: ['yen', 'yen'],
    INR: ['rupee', 'rupees', 'paisa', 'paise'],
  },
  partsAnd: ' and ',
  minus: 'minus',
  point: 'point',
  plus: 'plus',
  yes: 'yes',
  no: 'no',
  signs: { '-': 'dash', '.': 'dot', '@': 'at', '/': 'slash', _: 'underscore', '+': 'plus', '#': 'hash', '*': 'star' },
};

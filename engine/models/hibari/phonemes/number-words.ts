/**
 * Whole numbers of any length in English words, as num2words writes them, but for "and" and hyphens:
 * https://pypi.org/project/num2words/
 */

const SMALL = (
  'zero one two three four five six seven eight nine ten ' +
  'eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'
).split(' ');
const TENS = '  twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
const SCALES = (
  ' thousand million billion trillion quadrillion ' + 'quintillion sextillion septillion octillion nonillion decillion'
).split(' ');
const GROUP_DIGITS = 3;

const IRREGULAR_ORDINALS: ReadonlyMap<string, string> = new Map([
  ['one', 'first'],
  ['two', 'second'],
  ['three', 'third'],
  ['five', 'fifth'],
  ['eight', 'eighth'],
  ['nine', 'ninth'],
  ['twelve', 'twelfth'],
]);

/** `1234` → `one thousand two hundred thirty four`; numbers that have no name are read digit by digit. */
export function cardinalWords(digits: string): string {
  const number = digits.replace(/^0+(?=\d)/, '');
  if (number.length > SCALES.length * GROUP_DIGITS) return digitWords(number);
  const groups: string[] = [];
  for (let end = number.length, scale = 0; end > 0; end -= GROUP_DIGITS, scale++) {
    const group = Number(number.slice(Math.max(0, end - GROUP_DIGITS), end));
    if (group > 0) groups.unshift(`${belowThousand(group)} ${SCALES[scale]}`.trim());
  }
  return groups.join(' ') || 'zero';
}

function belowThousand(value: number): string {
  const hundreds = Math.floor(value / 100);
  const rest = value % 100;
  const ones = rest < 20 ? rest : rest % 10;
  const tens = rest < 20 ? '' : TENS[Math.floor(rest / 10)];
  return [hundreds > 0 ? `${SMALL[hundreds]} hundred` : '', tens, ones > 0 ? SMALL[ones] : '']
    .filter((word) => word !== '')
    .join(' ');
}

/** `21` → `twenty first`. */
export function ordinalWords(digits: string): string {
  return cardinalWords(digits).replace(
    /(?<![a-z])[a-z]+$/,
    (last) => IRREGULAR_ORDINALS.get(last) ?? (last.endsWith('y') ? `${last.slice(0, -1)}ieth` : `${last}th`),
  );
}

/** Four digits as a year: `1905` → `nineteen oh five`, `2005` → `two thousand five`. */
export function yearWords(digits: string): string {
  const high = Number(digits.slice(0, 2));
  const low = Number(digits.slice(2));
  if (high === 0 || (high % 10 === 0 && low < 10)) return cardinalWords(digits);
  const century = belowThousand(high);
  if (low === 0) return `${century} hundred`;
  return `${century} ${low < 10 ? 'oh ' : ''}${belowThousand(low)}`;
}

/** `3.10` → `three point one`: zeros at the end are not said. */
export function decimalWords(number: string): string {
  const [whole = '', fraction = ''] = number.split('.');
  const said = fraction.replace(/(?<!0)0+$/, '');
  const words = cardinalWords(whole === '' ? '0' : whole);
  return said === '' ? words : `${words} point ${digitWords(said)}`;
}

/** `042` → `zero four two`. */
export function digitWords(digits: string): string {
  return Array.from(digits, (digit) => SMALL[Number(digit)]).join(' ');
}

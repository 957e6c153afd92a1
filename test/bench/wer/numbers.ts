/** Digits → words, the way they are said on the phone: short numbers as cardinals, longer ones digit by digit. */

const ONES = (
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen ' +
  'fifteen sixteen seventeen eighteen nineteen'
).split(' ');
const TENS = ['', '', 'twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety'];
const ORDINALS = ['', 'first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth'];

/** `text` with every number in words. */
export function numberWords(text: string): string {
  return text
    .replace(/(\d),(\d{3})\b/g, '$1$2')
    .replace(
      /(\d+)\.(\d+)/g,
      (_, whole: string, decimals: string) => `${spoken(whole)} point ${digitByDigit(decimals)}`,
    )
    .replace(/\b(\d+)(st|nd|rd|th)\b/g, (_, digits: string) => ORDINALS[Number(digits)] ?? `${spoken(digits)} th`)
    .replace(/(\d)\s*%/g, '$1 percent')
    .replace(/\$\s*(\d+)/g, '$1 dollars')
    .replace(/(\d)([a-z])/g, '$1 $2')
    .replace(/([a-z])(\d)/g, '$1 $2')
    .replace(/\d+/g, (digits) => ` ${spoken(digits)} `);
}

function spoken(digits: string): string {
  if (digits.length > 1 && digits.startsWith('0')) return digitByDigit(digits);
  if (digits.length <= 3) return cardinal(Number(digits));
  if (digits.length === 4 && digits.endsWith('00') && digits[1] !== '0')
    return `${cardinal(Number(digits.slice(0, 2)))} hundred`;
  return digitByDigit(digits);
}

function digitByDigit(digits: string): string {
  return [...digits].map((digit) => ONES[Number(digit)]).join(' ');
}

function cardinal(value: number): string {
  if (value < 20) return ONES[value] ?? '';
  if (value < 100) return `${TENS[Math.floor(value / 10)]}${value % 10 === 0 ? '' : ` ${ONES[value % 10]}`}`;
  return `${ONES[Math.floor(value / 100)]} hundred${value % 100 === 0 ? '' : ` ${cardinal(value % 100)}`}`;
}

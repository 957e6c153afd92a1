/** Codes of countries with one or two digits (ITU-T E.164, list of country codes); the others have three. */
const SHORT_CODES = new Set(
  (
    '1 7 20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64 65 66 81 82 84 ' +
    '86 90 91 92 93 94 95 98'
  ).split(' '),
);
/** Whose numbers are written in pairs. */
const PAIRED = new Set(['33', '32', '41', '352', '45', '47']);
const NORTH_AMERICA = '1';

/**
 * The groups in which the digits of a telephone number are said: the country's code, then the number as it is written
 * there: 3 3 4 in North America, pairs in France, else threes. The last group never has a single digit.
 */
export function phoneGroups(number: string): string[] {
  const digits = number.replace(/\D/g, '');
  if (!number.startsWith('+')) return nationalGroups(digits);
  const length = [1, 2].find((size) => SHORT_CODES.has(digits.slice(0, size))) ?? 3;
  const [code, rest] = [digits.slice(0, length), digits.slice(length)];
  if (rest === '') return [code];
  if (code === NORTH_AMERICA && rest.length === 10) return [code, ...cut(rest, [3, 3, 4])];
  return [code, ...cut(rest, PAIRED.has(code) ? [rest.length % 2 === 1 ? 3 : 2, 2] : [3])];
}

function nationalGroups(digits: string): string[] {
  if (digits.length <= 4) return [digits];
  // As in North America, and as a group of numbers elsewhere; French numbers have ten digits and begin with 0.
  if (digits.length === 10) return cut(digits, digits.startsWith('0') ? [2] : [3, 3, 4]);
  return cut(digits, digits.length === 7 ? [3, 4] : [3]);
}

/** Cuts by `sizes` and repeats the last size. */
function cut(digits: string, sizes: readonly number[]): string[] {
  const groups: string[] = [];
  for (let at = 0; at < digits.length; ) {
    const size = sizes[Math.min(groups.length, sizes.length - 1)] ?? 3;
    const end = digits.length - (at + size) === 1 ? digits.length : at + size;
    groups.push(digits.slice(at, end));
    at = end;
  }
  return groups;
}

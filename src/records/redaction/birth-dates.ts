/** Finds dates near words such as "born"; other dates are kept. */
import { type Cue, cueFor } from './cues.ts';
import { readNumber } from './digit-runs.ts';
import { MONTHS, ORDINALS, POWER_WORDS } from './number-words.ts';
import type { Token } from './tokens.ts';

/** Tokens of a date, the end not counted. */
interface TokenRange {
  readonly from: number;
  readonly to: number;
}

const JOINING = new Set([
  'the',
  'of',
  'in',
  'and',
  ',',
  '/',
  '-',
  '–',
  '.',
  'on',
  'um',
  'uh',
  'oh',
  'o',
  'slash',
  'dash',
]);
const GAP_MAX_TOKENS = 3;
const YEAR_DIGITS = 4;
/** "1 2 3 4 5 6 7 8 9" is no date. */
const DATE_MAX_DIGITS = 8;
const DATE_MAX_TOKENS = 24;

/** One part of a date: a month, a day, a year. */
interface Part extends TokenRange {
  readonly isMonth: boolean;
  readonly digits: number;
}

/** The dates in `tokens` that are named as somebody's birthday. `context` = what was asked for; null = nothing. */
export function findBirthDates(tokens: readonly Token[], context: Cue | null): TokenRange[] {
  return findDates(tokens).filter(({ from, to }) => (cueFor(tokens, from, to) ?? context) === 'birth');
}

/** Everything that is said like a date or like a part of one that can be recognised. */
function findDates(tokens: readonly Token[]): TokenRange[] {
  const dates: TokenRange[] = [];
  let parts: Part[] = [];
  const close = (): void => {
    const [first, last] = [parts[0], parts.at(-1)];
    if (first !== undefined && last !== undefined && isDate(parts)) dates.push({ from: first.from, to: last.to });
    parts = [];
  };
  for (let index = 0; index < tokens.length; ) {
    const part = readPart(tokens, index);
    if (part === null) {
      index++;
      continue;
    }
    const last = parts.at(-1);
    if (last !== undefined && !isJoined(tokens, last, part)) close();
    parts.push(part);
    index = part.to;
  }
  close();
  return dates;
}

function isDate(parts: readonly Part[]): boolean {
  const digits = parts.reduce((sum, part) => sum + part.digits, 0);
  if (digits > DATE_MAX_DIGITS + 2) return false;
  return digits >= YEAR_DIGITS || (parts.some(({ isMonth }) => isMonth) && parts.length > 1);
}

function isJoined(tokens: readonly Token[], before: Part, behind: Part): boolean {
  if (behind.to - before.from > DATE_MAX_TOKENS) return false;
  const gap = tokens.slice(before.to, behind.from);
  return gap.length <= GAP_MAX_TOKENS && gap.every(({ key }) => JOINING.has(key));
}

function readPart(tokens: readonly Token[], index: number): Part | null {
  const token = tokens[index];
  if (token === undefined || token.kind === 'sign') return null;
  if (MONTHS.has(token.key)) return { from: index, to: index + 1, isMonth: true, digits: 0 };
  if (token.kind === 'figures') {
    const suffix = tokens[index + 1];
    const hasSuffix = suffix?.isGlued === true && ORDINALS.has(suffix.key);
    return { from: index, to: index + (hasSuffix ? 2 : 1), isMonth: false, digits: token.key.length };
  }
  if (ORDINALS.has(token.key)) return { from: index, to: index + 1, isMonth: false, digits: 2 };
  if (POWER_WORDS.has(token.key)) return { from: index, to: index + 1, isMonth: false, digits: 2 };
  const read = readNumber(tokens, index);
  if (read === null) return null;
  if (read.kind === 'quantity') return null;
  return { from: index, to: read.atom.to, isMonth: false, digits: read.atom.digits.length };
}

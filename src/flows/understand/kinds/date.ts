/**
 * Dates as they are said. Where the year, the month or the week is not said, it is the next such day: a weekday is
 * never today, "next Friday" is the coming one, a day of a month can be today.
 */
import type { Item, NumberItem } from '../items.ts';
import type { LanguageWords } from '../languages/language-words.ts';
import { perLanguage } from '../per-language.ts';
import { PhraseTable, phraseSet } from '../phrase-table.ts';
import { withoutFillers } from './answer-words.ts';
import { type Day, isDay, moveDay, nextMonthly, nextWeekday, nextYearly, weekdayOf } from './days.ts';

type Unit = 'day' | 'week' | 'month' | 'year';

/** What of a text means something for a date. Links ("the", "of") are left out. */
type Part =
  | { readonly type: 'month' | 'weekday' | 'offset'; readonly value: number }
  | { readonly type: 'unit'; readonly value: Unit }
  | { readonly type: 'next' | 'this' | 'ahead' | 'from' | 'a' | 'zero' | 'other' }
  | { readonly type: 'number'; readonly item: NumberItem };

const tablesOf = perLanguage(({ dates, times }) => ({
  parts: new PhraseTable<Part | null>([
    ...dates.months.map((names, index) => [names, { type: 'month', value: index + 1 }] as const),
    ...dates.weekdays.map((names, index) => [names, { type: 'weekday', value: index }] as const),
    ...dates.days.map(([phrases, value]) => [phrases, { type: 'offset', value }] as const),
    ...dates.units.map(([phrases, value]) => [phrases, { type: 'unit', value }] as const),
    [dates.next, { type: 'next' }],
    [dates.this, { type: 'this' }],
    [dates.from, { type: 'from' }],
    [dates.ahead, { type: 'ahead' }],
    [dates.a, { type: 'a' }],
    [dates.links, null],
    [times.zero, { type: 'zero' }],
  ]),
  of: phraseSet(dates.of),
}));

/** A day without a month is one only in a short answer. */
const ALONE_WORDS_MAX = 3;
const YEAR_MIN = 1900;
const YEAR_MAX = 2199;
/** More than that ahead is a misunderstanding. */
const AHEAD_MAX = 1000;
const NUMERIC = /^(\d{1,2})[./](\d{1,2})(?:[./](\d{4}|\d{2}))?$/;

/** The day that `items` name, seen from `today`; null = none. `region` decides what comes first in `12/05`. */
export function readDate(
  items: readonly Item[],
  words: LanguageWords,
  { today, region }: { readonly today: Day; readonly region: string },
): Day | null {
  const parts = findParts(items, words);
  const dayFirst = words.dates.otherOrder.includes(region) !== words.dates.dayFirst;
  return (
    readNumeric(parts, today, dayFirst) ??
    readMonthAndDay(parts, today) ??
    readOrdinals(parts, today, dayFirst) ??
    readRelative(parts, today) ??
    readWeekday(parts, today) ??
    readDayOfMonth(items, words, today)
  );
}

function findParts(items: readonly Item[], words: LanguageWords): Part[] {
  const { parts: table } = tablesOf(words);
  const parts: Part[] = [];
  for (let at = 0; at < items.length; ) {
    const item = items[at];
    if (item === undefined) break;
    const found = table.find(items, at);
    if (found !== null) {
      if (found.value !== null) parts.push(found.value);
    } else parts.push(item.type === 'number' ? { type: 'number', item } : { type: 'other' });
    at += found?.length ?? 1;
  }
  return parts;
}

/** `2027-05-03`, `12/05/2027`, `3.5.27`. */
function readNumeric(parts: readonly Part[], today: Day, dayFirst: boolean): Day | null {
  for (const [index, part] of parts.entries()) {
    if (part.type !== 'number' || part.item.figures === '') continue;
    const iso = /^(\d{4})-(\d{1,2})-(\d{1,2})$/.exec(part.item.figures);
    if (iso !== null) return checked({ year: Number(iso[1]), month: Number(iso[2]), day: Number(iso[3]) });
    const match = NUMERIC.exec(part.item.figures);
    if (match === null) continue;
    const [first, second] = [Number(match[1]), Number(match[2])];
    // The dot is the mark of those who begin with the day.
    const isDayFirst = part.item.figures.includes('.') || (dayFirst && second <= 12) || first > 12;
    const [day, month] = isDayFirst ? [first, second] : [second, first];
    const year = match[3] === undefined ? yearAt(parts, index + 1) : Number(match[3]);
    if (year === null) return nextYearly(today, month, day);
    return checked({ year: year < 100 ? 2000 + year : year, month, day });
  }
  return null;
}

/** "The third of May", "May 3rd 2027". */
function readMonthAndDay(parts: readonly Part[], today: Day): Day | null {
  for (const [at, part] of parts.entries()) {
    if (part.type !== 'month') continue;
    const before = dayAt(parts, at - 1);
    const day = before ?? dayAt(parts, at + 1);
    if (day === null) continue;
    const year = yearAt(parts, before === null ? at + 2 : at + 1);
    return year === null ? nextYearly(today, part.value, day) : checked({ year, month: part.value, day });
  }
  return null;
}

/** "The third of the fifth" as Germans say it: both are ordinals, or figures with stops. */
function readOrdinals(parts: readonly Part[], today: Day, dayFirst: boolean): Day | null {
  if (!dayFirst) return null;
  for (const [at, part] of parts.entries()) {
    const next = parts[at + 1];
    if (part.type !== 'number' || next?.type !== 'number' || !next.item.isOrdinal) continue;
    if (!part.item.isOrdinal || next.item.value > 12) continue;
    const year = yearAt(parts, at + 2);
    const [month, day] = [next.item.value, part.item.value];
    return year === null ? nextYearly(today, month, day) : checked({ year, month, day });
  }
  return null;
}

/** "Tomorrow", "in two weeks", "a week from Friday", "Tuesday next week", "next month". */
function readRelative(parts: readonly Part[], today: Day): Day | null {
  const offset = parts.find((part) => part.type === 'offset');
  const weekday = parts.find((part) => part.type === 'weekday');
  const from = offset?.type === 'offset' ? moveDay(today, offset.value, 'day') : today;
  for (const [at, part] of parts.entries()) {
    if (part.type !== 'unit') continue;
    const [before, beforeThat, behind] = [parts[at - 1], parts[at - 2], parts[at + 1]];
    const count = before?.type === 'number' ? before.item.value : before?.type === 'a' ? 1 : null;
    if (count !== null && (beforeThat?.type === 'ahead' || behind?.type === 'from')) {
      if (!Number.isInteger(count) || count > AHEAD_MAX) return null;
      if (weekday?.type !== 'weekday') return moveDay(from, count, part.value);
      if (part.value !== 'week') return null;
      // "A week from Friday" counts from Friday; so does "Friday in a week".
      return moveDay(nextWeekday(today, weekday.value), count, 'week');
    }
    if (before?.type === 'next') return nextUnit(part.value, weekday?.type === 'weekday' ? weekday.value : null, today);
  }
  return offset === undefined ? null : from;
}

/** "Next week" is seven days from now, with a weekday that of the week that begins on the next Monday. */
function nextUnit(unit: Unit, weekday: number | null, today: Day): Day | null {
  if (weekday === null || unit !== 'week') return moveDay(today, 1, unit);
  return moveDay(nextWeekday(today, 1), (weekday + 6) % 7, 'day');
}

function readWeekday(parts: readonly Part[], today: Day): Day | null {
  const weekdays = parts.flatMap((part) => (part.type === 'weekday' ? [part] : []));
  const [first] = weekdays;
  if (first === undefined || weekdays.some(({ value }) => value !== first.value)) return null;
  const at = parts.indexOf(first);
  const day = dayAt(parts, at + 1);
  const isOrdinal = parts[at + 1]?.type === 'number' && day !== null;
  if (isOrdinal) return nextMonthly(today, day, first.value) ?? null;
  if (parts[at - 1]?.type === 'this' && weekdayOf(today) === first.value) return today;
  return nextWeekday(today, first.value);
}

/** "The fifteenth", and "fifteen" where nothing else is said. */
function readDayOfMonth(items: readonly Item[], words: LanguageWords, today: Day): Day | null {
  const at = items.findIndex(({ type }) => type === 'number');
  const item = items[at];
  if (item?.type !== 'number' || items.some((other, index) => index !== at && other.type === 'number')) return null;
  if (tablesOf(words).of.find(items, at + 1) !== null) return null;
  if (withoutFillers(items, words).length > (item.isOrdinal ? ALONE_WORDS_MAX : 1)) return null;
  if (findParts(items, words).some(({ type }) => type === 'unit')) return null;
  return item.value >= 1 && item.value <= 31 ? nextMonthly(today, item.value, null) : null;
}

function dayAt(parts: readonly Part[], at: number): number | null {
  const part = parts[at];
  if (part?.type !== 'number') return null;
  const { value } = part.item;
  return Number.isInteger(value) && value >= 1 && value <= 31 ? value : null;
}

/** The year that is said at `at`: 2027, "twenty twenty seven", "nineteen oh five", 27; null = none. */
function yearAt(parts: readonly Part[], at: number): number | null {
  const [first, second, third] = [parts[at], parts[at + 1], parts[at + 2]];
  const value = wholeNumber(first);
  if (value === null) return null;
  if (value >= YEAR_MIN && value <= YEAR_MAX) return value;
  if (value * 100 >= YEAR_MIN && value * 100 <= YEAR_MAX) {
    const rest = wholeNumber(second?.type === 'zero' ? third : second);
    const isRest = rest !== null && (second?.type === 'zero' ? rest < 10 : rest >= 10 && rest < 100);
    if (isRest) return value * 100 + rest;
  }
  return value > 20 && value < 80 ? 2000 + value : null;
}

function wholeNumber(part: Part | undefined): number | null {
  return part?.type === 'number' && !part.item.isOrdinal && Number.isInteger(part.item.value) ? part.item.value : null;
}

function checked(day: Day): Day | null {
  return isDay(day) ? day : null;
}

/**
 * Times of day as they are said. Where nobody says which half of the day, one to six is in the afternoon and seven to
 * twelve as it is said: that is when places are open. Hours from 13 on and those written with a zero (`03:00`) are
 * meant as they are.
 */
import type { Item, NumberItem } from '../items.ts';
import type { LanguageWords } from '../languages/language-words.ts';
import { perLanguage } from '../per-language.ts';
import { PhraseTable, phraseSet } from '../phrase-table.ts';

type PartOfDay = 'morning' | 'afternoon' | 'evening' | 'night';

const tablesOf = perLanguage(({ times, numbers }) => ({
  partOfDay: new PhraseTable<PartOfDay>([
    [times.morning, 'morning'],
    [times.afternoon, 'afternoon'],
    [times.evening, 'evening'],
    [times.night, 'night'],
  ]),
  named: new PhraseTable<number>([
    [times.midnight, 0],
    [times.noon, 12],
  ]),
  hour: phraseSet(times.hour),
  minutes: phraseSet(times.minutes),
  fractions: new PhraseTable<number>([
    [times.threeQuarters, 45],
    [times.half, 30],
    [times.quarter, 15],
  ]),
  past: phraseSet(times.past),
  to: phraseSet(times.to),
  less: phraseSet(times.less),
  and: phraseSet(`${numbers.and}, ${numbers.articles}`),
  now: phraseSet(times.now),
  ahead: phraseSet(times.ahead),
  units: new PhraseTable(times.units),
  zero: phraseSet(times.zero),
}));

type Tables = ReturnType<typeof tablesOf>;

const HOUR_MINUTES = 60;
const DAY_MINUTES = 24 * HOUR_MINUTES;
const HALF_DAY_HOURS = 12;

/** A time as it is said, before it is known which half of the day. */
interface ClockTime {
  readonly hour: number;
  readonly minute: number;
  /** Whether the hour is meant as it stands. */
  readonly isExact: boolean;
  /** How many items it has. */
  readonly length: number;
}

/** The one time that `items` name as `14:30`; `nowMinutes` is that of the caller's clock. Null = none, or several. */
export function readTime(items: readonly Item[], words: LanguageWords, nowMinutes: number): string | null {
  const tables = tablesOf(words);
  const later = readLater(items, tables, words);
  if (later !== null) return writeTime(nowMinutes + later);
  const { partOfDay, rest } = takePartOfDay(items, tables);
  let found: ClockTime | null = null;
  for (let at = 0; at < rest.length; ) {
    const time = timeAt(rest, at, tables, words);
    if (time !== null && found !== null && (time.hour !== found.hour || time.minute !== found.minute)) return null;
    found ??= time;
    at += time?.length ?? 1;
  }
  if (found !== null) return writeTime(hourOf(found, partOfDay) * HOUR_MINUTES + found.minute);
  return items.some((_, at) => tables.now.find(items, at) !== null) ? writeTime(nowMinutes) : null;
}

/** "In half an hour", "in 20 minutes": minutes from now. */
function readLater(
  items: readonly Item[],
  { ahead, units, fractions, and }: Tables,
  words: LanguageWords,
): number | null {
  for (let at = 0; at < items.length; at++) {
    const behind = at + (ahead.find(items, at)?.length ?? 0);
    if (behind === at) continue;
    // In "in einer halben Stunde" the article is a number too.
    const lead = items[behind];
    const isArticle = lead?.type === 'number' && lead.value === 1 && fractions.find(items, behind + 1) !== null;
    const from = isArticle ? behind + 1 : behind;
    const half = fractions.find(items, from);
    const article = and.find(items, from + (half?.length ?? 0))?.length ?? 0;
    const number = items[from];
    const counted = half === null && number?.type === 'number';
    const unit = units.find(items, counted ? from + 1 : from + (half?.length ?? 0) + article);
    if (unit === null || words.times.units.length === 0) continue;
    if (counted) return Number.isInteger(number.value) && number.value < DAY_MINUTES ? number.value * unit.value : null;
    if (half !== null || article > 0)
      return half === null ? unit.value : Math.ceil((half.value * unit.value) / HOUR_MINUTES);
  }
  return null;
}

/** What is said of the half of the day, and the items without it. */
function takePartOfDay(items: readonly Item[], tables: Tables): { partOfDay: PartOfDay | null; rest: Item[] } {
  const rest: Item[] = [];
  let partOfDay: PartOfDay | null = null;
  for (let at = 0; at < items.length; ) {
    const item = items[at];
    const isNamed = tables.named.find(items, at) !== null;
    const found = isNamed ? null : tables.partOfDay.find(items, at);
    partOfDay = found?.value ?? partOfDay;
    if (found === null && item !== undefined) rest.push(item);
    at += found?.length ?? 1;
  }
  return { partOfDay, rest };
}

function timeAt(items: readonly Item[], at: number, tables: Tables, words: LanguageWords): ClockTime | null {
  return (
    relativeAt(items, at, tables, words) ??
    namedWithMinutesAt(items, at, tables, words) ??
    plainAt(items, at, tables, words)
  );
}

function namedAt(items: readonly Item[], at: number, { named }: Tables): ClockTime | null {
  const found = named.find(items, at);
  return found === null ? null : { hour: found.value, minute: 0, isExact: true, length: found.length };
}

/** "Noon", "midi et quart". */
function namedWithMinutesAt(
  items: readonly Item[],
  at: number,
  tables: Tables,
  words: LanguageWords,
): ClockTime | null {
  const named = namedAt(items, at, tables);
  if (named === null) return null;
  const { minutes, length } = minuteAt(items, at + named.length, { tables, words, isBehindHourWord: false });
  return moved(named, minutes, named.length + length);
}

/** "Half past nine", "quarter to five", "ten to five", "five before half ten" (German), "half ten". */
function relativeAt(items: readonly Item[], at: number, tables: Tables, words: LanguageWords): ClockTime | null {
  const amount = minutesAt(items, at, tables);
  if (amount === null) return null;
  const behind = at + amount.length;
  const [past, to] = [tables.past.find(items, behind), tables.to.find(items, behind)];
  const way = past ?? to;
  if (way === null) {
    const base = amount.isFraction ? baseAt(items, behind, tables) : null;
    if (base === null) return null;
    const isBefore = words.times.halfBefore;
    const minutes = isBefore ? amount.minutes - HOUR_MINUTES : amount.minutes;
    return moved(base, minutes, amount.length + base.length);
  }
  const from = behind + way.length;
  const half = words.times.halfBefore ? relativeAt(items, from, tables, words) : null;
  const base = half ?? baseAt(items, from, tables);
  if (base === null) return null;
  return moved(base, past === null ? -amount.minutes : amount.minutes, amount.length + way.length + base.length);
}

interface Minutes {
  readonly minutes: number;
  readonly length: number;
  readonly isFraction: boolean;
}

function minutesAt(items: readonly Item[], at: number, tables: Tables): Minutes | null {
  const fraction = tables.fractions.find(items, at);
  if (fraction !== null) return { minutes: fraction.value, length: fraction.length, isFraction: true };
  const item = items[at];
  if (!isWholeNumber(item) || item.value < 1 || item.value >= HOUR_MINUTES) return null;
  const unit = tables.minutes.find(items, at + 1)?.length ?? 0;
  // "Nine to five" are two times, "ten to five" is one.
  if (unit === 0 && item.value <= HALF_DAY_HOURS && item.value % 5 !== 0) return null;
  return { minutes: item.value, length: 1 + unit, isFraction: false };
}

/** The hour that minutes are counted from. */
function baseAt(items: readonly Item[], at: number, tables: Tables): ClockTime | null {
  const named = namedAt(items, at, tables);
  if (named !== null) return named;
  const item = items[at];
  if (item?.type !== 'number' || !isHour(item)) return null;
  return {
    hour: item.value,
    minute: 0,
    isExact: isExact(item),
    length: 1 + (tables.hour.find(items, at + 1)?.length ?? 0),
  };
}

function moved(base: ClockTime, minutes: number, length: number): ClockTime {
  const total = (base.hour * HOUR_MINUTES + base.minute + minutes + DAY_MINUTES) % DAY_MINUTES;
  // "Quarter to one" is at 12:45, in whichever half of the day.
  const hour = Math.floor(total / HOUR_MINUTES);
  const isTwelve = hour === 0 && !base.isExact;
  return { hour: isTwelve ? HALF_DAY_HOURS : hour, minute: total % HOUR_MINUTES, isExact: base.isExact, length };
}

/** "Nine", "nine thirty", "nine oh five", "14 Uhr 30", `14:30`, `1430`, "neuf heures et demie". */
function plainAt(items: readonly Item[], at: number, tables: Tables, words: LanguageWords): ClockTime | null {
  const item = items[at];
  if (item?.type !== 'number' || item.isOrdinal) return null;
  const written = writtenTime(item);
  if (written !== null) return { ...written, length: 1 + (tables.hour.find(items, at + 1)?.length ?? 0) };
  if (!isHour(item)) return null;
  const hour = { hour: item.value === 24 ? 0 : item.value, isExact: isExact(item) };
  const word = tables.hour.find(items, at + 1)?.length ?? 0;
  const from = at + 1 + word;
  const minute = minuteAt(items, from, { tables, words, isBehindHourWord: word > 0 });
  if (minute.minutes < 0) return moved({ ...hour, minute: 0, length: 0 }, minute.minutes, 1 + word + minute.length);
  return { ...hour, minute: minute.minutes, length: 1 + word + minute.length };
}

interface MinuteContext {
  readonly tables: Tables;
  readonly words: LanguageWords;
  /** Whether the hour is said to be one: "nine o'clock". */
  readonly isBehindHourWord: boolean;
}

/** The minutes behind an hour: "thirty", "oh five", "and a half", "less the quarter" (negative). */
function minuteAt(
  items: readonly Item[],
  at: number,
  { tables, words, isBehindHourWord }: MinuteContext,
): { minutes: number; length: number } {
  const less = tables.less.find(items, at)?.length ?? 0;
  const and = tables.and.find(items, at + less)?.length ?? 0;
  const zero = tables.zero.find(items, at + and)?.length ?? 0;
  const from = at + less + and + zero;
  const fraction = tables.fractions.find(items, from);
  if (fraction !== null && (less > 0 || and > 0)) {
    return { minutes: less > 0 ? -fraction.value : fraction.value, length: less + and + fraction.length };
  }
  const item = items[from];
  if (!isWholeNumber(item) || item.value >= HOUR_MINUTES) return NO_MINUTES;
  // "Nine five" and "9 5" are two numbers.
  if (item.value < 10 && item.figures.length < 2 && from === at && !isBehindHourWord) return NO_MINUTES;
  if (and > 0 && less === 0 && !words.times.andMinutes && !isBehindHourWord) return NO_MINUTES;
  const length = less + and + zero + 1;
  const unit = tables.minutes.find(items, at + length)?.length ?? 0;
  return { minutes: less > 0 ? -item.value : item.value, length: length + unit };
}

const NO_MINUTES = { minutes: 0, length: 0 } as const;

/** `14:30`, `9.05`, `0930`, "fourteen hundred". */
function writtenTime({ figures, digits }: NumberItem): Omit<ClockTime, 'length'> | null {
  const [, hour, minute] = /^(\d{1,2})[:.](\d{2})(?::\d{2})?$/.exec(figures) ?? /^(\d{1,2})(\d{2})$/.exec(digits) ?? [];
  if (hour === undefined || Number(hour) > 24 || Number(minute) >= HOUR_MINUTES) return null;
  return {
    hour: Number(hour) % 24,
    minute: Number(minute),
    isExact: hour.startsWith('0') || Number(hour) > HALF_DAY_HOURS,
  };
}

function isWholeNumber(item: Item | undefined): item is NumberItem {
  return item?.type === 'number' && !item.isOrdinal && Number.isInteger(item.value);
}

function isHour(item: Item | undefined): item is NumberItem {
  return isWholeNumber(item) && item.value <= 24;
}

function isExact({ value, figures }: NumberItem): boolean {
  return value > HALF_DAY_HOURS || value === 0 || figures.startsWith('0');
}

function hourOf({ hour, isExact: exact }: ClockTime, partOfDay: PartOfDay | null): number {
  const isSecondHalf = hour >= HALF_DAY_HOURS;
  if (partOfDay === 'morning') return hour === HALF_DAY_HOURS && !exact ? 0 : hour;
  if (partOfDay === 'afternoon') return isSecondHalf || exact ? hour : hour + HALF_DAY_HOURS;
  if (exact) return hour;
  if (partOfDay === 'night' || partOfDay === 'evening') {
    if (hour === HALF_DAY_HOURS) return 0;
    const isLate = hour >= (partOfDay === 'evening' ? 4 : 7);
    return isLate && !isSecondHalf ? hour + HALF_DAY_HOURS : hour;
  }
  return hour >= 1 && hour <= 6 ? hour + HALF_DAY_HOURS : hour;
}

function writeTime(minutes: number): string {
  const time = ((minutes % DAY_MINUTES) + DAY_MINUTES) % DAY_MINUTES;
  return `${String(Math.floor(time / HOUR_MINUTES)).padStart(2, '0')}:${String(time % HOUR_MINUTES).padStart(2, '0')}`;
}

/** Days of the calendar, without times and zones. */

const DAY_MS = 86_400_000;
/** The calendar repeats: a day that every fourth year has is found in so many. */
const YEARS_AHEAD = 8;

/** A day. Month 1 = January. */
export interface Day {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

/** `day` moved by whole days, months or years; the last day of a shorter month stands for those that it lacks. */
export function moveDay(day: Day, by: number, unit: 'day' | 'week' | 'month' | 'year'): Day {
  if (unit === 'day' || unit === 'week') return dayOf(dateOf(day).getTime() + by * (unit === 'week' ? 7 : 1) * DAY_MS);
  const months = day.year * 12 + day.month - 1 + by * (unit === 'year' ? 12 : 1);
  const [year, month] = [Math.floor(months / 12), (months % 12) + 1];
  return { year, month, day: Math.min(day.day, lastDay(year, month)) };
}

/** 0 = Sunday. */
export function weekdayOf(day: Day): number {
  return dateOf(day).getUTCDay();
}

/** Whether the calendar has this day. */
export function isDay({ year, month, day }: Day): boolean {
  return (
    Number.isInteger(day) &&
    year >= 1 &&
    year <= 9999 &&
    month >= 1 &&
    month <= 12 &&
    day >= 1 &&
    day <= lastDay(year, month)
  );
}

/** The first day of this month and day of the month that is not before `today`; null = no year has it. */
export function nextYearly(today: Day, month: number, day: number): Day | null {
  for (let year = today.year; year <= today.year + YEARS_AHEAD; year++) {
    const found = { year, month, day };
    if (isDay(found) && compareDays(found, today) >= 0) return found;
  }
  return null;
}

/** The first day with this day of the month, and weekday if one is given, that is not before `today`. */
export function nextMonthly(today: Day, day: number, weekday: number | null): Day | null {
  for (let months = 0; months <= 12 * YEARS_AHEAD; months++) {
    const { year, month } = moveDay({ ...today, day: 1 }, months, 'month');
    const found = { year, month, day };
    if (!isDay(found) || compareDays(found, today) < 0) continue;
    if (weekday === null || weekdayOf(found) === weekday) return found;
  }
  return null;
}

/** The first day after `day` with this weekday. */
export function nextWeekday(day: Day, weekday: number): Day {
  return moveDay(day, ((weekday - weekdayOf(day) + 6) % 7) + 1, 'day');
}

/** `2026-11-23`. */
export function writeDay({ year, month, day }: Day): string {
  return `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
}

/** The day that {@link writeDay} wrote; null = it is none. */
export function parseDay(text: string): Day | null {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? [];
  const read = { year: Number(year), month: Number(month), day: Number(day) };
  return isDay(read) ? read : null;
}

/** How many days `to` is after `from`. */
export function daysBetween(from: Day, to: Day): number {
  return compareDays(to, from) / DAY_MS;
}

function compareDays(a: Day, b: Day): number {
  return dateOf(a).getTime() - dateOf(b).getTime();
}

function dateOf({ year, month, day }: Day): Date {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date;
}

function dayOf(timeMs: number): Day {
  const date = new Date(timeMs);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

function lastDay(year: number, month: number): number {
  return dateOf({ year, month: month + 1, day: 0 }).getUTCDate();
}

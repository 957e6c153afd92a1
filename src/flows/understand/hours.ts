/** Whether a place is open: the verb `hours`. */
import { isTimeZone, placeTime } from './place-time.ts';

type Spans = readonly string[] | undefined;

/** The part of the verb's fields that says when. Spans are `09:00-17:30`. */
export interface OpeningHours {
  readonly timeZone?: string | undefined;
  readonly week: { readonly [day in (typeof DAYS)[number] | Days]?: Spans };
  readonly holidays?:
    | readonly (string | { readonly date: string; readonly name?: string | undefined; readonly open?: Spans })[]
    | undefined;
}

type Week = OpeningHours['week'];
type Days = 'monday-friday' | 'monday-saturday' | 'monday-sunday' | 'saturday-sunday';

const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const;
/** The shorter row of days goes before the longer one. */
const ROWS: readonly (readonly [Days, ReadonlySet<number>])[] = [
  ['saturday-sunday', new Set([6, 0])],
  ['monday-friday', new Set([1, 2, 3, 4, 5])],
  ['monday-saturday', new Set([1, 2, 3, 4, 5, 6])],
  ['monday-sunday', new Set([0, 1, 2, 3, 4, 5, 6])],
];
const HOLIDAY = /^(?:(\d{4})-)?(\d{2})-(\d{2})$/;
/** Has a February 29. */
const LEAP_YEAR = 2024;

/**
 * Whether a place is open at `now`, by the clock on its wall. A span counts from its first minute to the one before its
 * last. On a holiday the hours of the week do not count: `open` is said of the holiday's own hours, `holiday` of the
 * rest of the day. A single day goes before a yearly one. `timeZone` counts where the hours name none.
 * @throws RangeError when there is no such time zone
 */
export function isOpen(hours: OpeningHours, now: Date, timeZone: string): 'open' | 'closed' | 'holiday' {
  const { year, month, day, weekday, minutes } = placeTime(now, hours.timeZone ?? timeZone);
  const yearly = `${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
  const holidays = (hours.holidays ?? []).map((holiday) => (typeof holiday === 'string' ? { date: holiday } : holiday));
  const holiday =
    holidays.find(({ date }) => date === `${String(year).padStart(4, '0')}-${yearly}`) ??
    holidays.find(({ date }) => date === yearly);
  if (holiday !== undefined) return isInside(holiday.open, minutes) ? 'open' : 'holiday';
  return isInside(spansOn(weekday, hours.week), minutes) ? 'open' : 'closed';
}

/** A day's own hours go before those of a row of days. */
function spansOn(weekday: number, week: Week): readonly string[] | undefined {
  const row = ROWS.find(([name, days]) => days.has(weekday) && week[name] !== undefined)?.[0];
  return week[DAYS[weekday] ?? 'sunday'] ?? (row === undefined ? undefined : week[row]);
}

/** What is wrong with hours: where in them, and what. */
export interface HoursProblem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** What is wrong with a time zone; null = nothing. */
export function findZoneProblem(timeZone: string): string | null {
  if (isTimeZone(timeZone)) return null;
  return `got ${JSON.stringify(timeZone)}, expected a time zone of the IANA database such as Europe/Berlin`;
}

/** What is wrong with `hours` beside their form. */
export function findHoursProblems(hours: OpeningHours): HoursProblem[] {
  const problems: HoursProblem[] = [];
  const { timeZone, week, holidays = [] } = hours;
  const message = timeZone === undefined ? null : findZoneProblem(timeZone);
  if (message !== null) problems.push({ path: ['timeZone'], message });
  for (const [name, spans] of Object.entries(week)) problems.push(...spanProblems(['week', name], spans));
  holidays.forEach((holiday, index) => {
    const isText = typeof holiday === 'string';
    const date = isText ? holiday : holiday.date;
    const message = `got ${JSON.stringify(date)}, expected a day such as 2026-12-25 or 12-25`;
    if (!isHoliday(date)) problems.push({ path: ['holidays', index, ...(isText ? [] : ['date'])], message });
    if (!isText) problems.push(...spanProblems(['holidays', index, 'open'], holiday.open));
  });
  return problems;
}

function spanProblems(where: HoursProblem['path'], spans: readonly string[] | undefined): HoursProblem[] {
  return (spans ?? []).flatMap((span, index) => {
    const [from, to] = readSpan(span);
    if (to > from) return [];
    const message = `got ${span}, expected a later end: over midnight are two spans, to 24:00 and from 00:00`;
    return [{ path: [...where, index], message }];
  });
}

function isHoliday(date: string): boolean {
  const [, year = String(LEAP_YEAR), month, day] = HOLIDAY.exec(date) ?? [];
  const made = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  return made.getUTCMonth() + 1 === Number(month) && made.getUTCDate() === Number(day);
}

function isInside(spans: readonly string[] | undefined, minutes: number): boolean {
  return (spans ?? []).some((span) => {
    const [from, to] = readSpan(span);
    return minutes >= from && minutes < to;
  });
}

/** `09:00-17:30` in minutes since midnight. */
function readSpan(span: string): [number, number] {
  const [from = '', to = ''] = span.split('-');
  return [minutesOf(from), minutesOf(to)];
}

function minutesOf(time: string): number {
  const [hour, minute] = time.split(':');
  return Number(hour) * 60 + Number(minute);
}

/** A moment as the calendar and the clocks of a place show it. */
export interface PlaceTime {
  readonly year: number;
  /** 1 = January. */
  readonly month: number;
  readonly day: number;
  /** 0 = Sunday. */
  readonly weekday: number;
  /** Since midnight by the clock on the wall: 90 = 01:30, also on days when clocks change. */
  readonly minutes: number;
}

const formats = new Map<string, Intl.DateTimeFormat>();
/** Zones come from flow files, so there are few; a limit all the same. */
const FORMATS_MAX = 100;

/** Whether the IANA database has `timeZone`. */
export function isTimeZone(timeZone: string): boolean {
  try {
    formatOf(timeZone);
    return true;
  } catch {
    return false;
  }
}

/** `now` in `timeZone` (IANA). @throws RangeError when there is no such zone */
export function placeTime(now: Date, timeZone: string): PlaceTime {
  const parts = new Map(
    formatOf(timeZone)
      .formatToParts(now)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
  const [year, month, day] = [part('year'), part('month'), part('day')];
  const weekday = new Date(Date.UTC(year, month - 1, day)).getUTCDay();
  return { year, month, day, weekday, minutes: part('hour') * 60 + part('minute') };
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const numeric = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const;
  const format = new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', ...numeric });
  if (formats.size >= FORMATS_MAX) formats.clear();
  formats.set(timeZone, format);
  return format;
}

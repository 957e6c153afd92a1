/** Times as tests write them. */
import { placeTime } from '../understand/place-time.ts';

const MINUTE_MS = 60_000;
/** Long enough for a change of the clocks to be between two guesses. */
const GUESSES = 3;

/**
 * The moment of `text`, such as `2026-11-23T10:00` (in `timeZone`, IANA) or `2026-11-23T10:00Z`. A time that the clocks
 * leave out is an hour later.
 * @throws RangeError when there is no such day or no such time zone
 */
export function wallTimeIn(text: string, timeZone: string): Date {
  const own = new Date(/(?:Z|[+-]\d\d:\d\d)$/.test(text) ? text : `${text}Z`);
  if (
    Number.isNaN(own.getTime()) ||
    (own.toISOString().slice(0, 10) !== text.slice(0, 10) && !/[+-]\d\d:\d\d$/.test(text))
  )
    throw new RangeError(`got the time ${text}, which no calendar has`);
  if (/(?:Z|[+-]\d\d:\d\d)$/.test(text)) return own;
  let guess = own.getTime();
  for (let round = 0; round < GUESSES; round += 1) guess = own.getTime() - offsetMs(guess, timeZone);
  return new Date(guess);
}

/** How far the clocks of `timeZone` are ahead of UTC. */
function offsetMs(atMs: number, timeZone: string): number {
  const { year, month, day, minutes } = placeTime(new Date(atMs), timeZone);
  return Date.UTC(year, month - 1, day) + minutes * MINUTE_MS - Math.floor(atMs / MINUTE_MS) * MINUTE_MS;
}

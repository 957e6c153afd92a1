/** Times of day, durations in clock form, and ratios. */
import { cardinal } from './words.ts';

const HOUR = String.raw`([01]?\d|2[0-4])`;
const IN_FRONT = String.raw`(?<![\w:.,$€£-])`;
const HALF_OF_DAY = String.raw` ?([AaPp])(?:\.[Mm]\.?|[Mm])(?!\w)`;

const RANGE_BY_CLOCK = /(?<=\d:\d\d) ?- ?(?=\d{1,2}:\d\d)/g;
const RANGE_BY_HALF = /(?<=\d ?[AaPp]\.?[Mm]\.?) ?- ?(?=\d)/g;
const RANGE_BY_HOUR = new RegExp(
  String.raw`${IN_FRONT}(\d{1,2})(?::([0-5]\d))? ?- ?(?=\d{1,2}(?::\d\d)? ?[AaPp]\.?[Mm])`,
  'g',
);
const WITH_HALF = new RegExp(String.raw`${IN_FRONT}${HOUR}(?::([0-5]\d))?(?::[0-5]\d)?${HALF_OF_DAY}`, 'g');
/** Behind words: `half past seven p.m.`; nothing else is written so. */
const HALF_BEHIND_WORDS = /(?<=\p{Ll} )([AaPp])\.[Mm]\.?(?!\w)/gu;
const BY_CLOCK = new RegExp(String.raw`${IN_FRONT}${HOUR}:([0-5]\d)(?::([0-5]\d))?(?:Z(?!\w))?(?![\w:]|\.\d)`, 'g');
const RATIO = /(?<![\w:.,-])(\d{1,3}):(\d{1,3})(?![\w:.,]\d|[\w:])/g;

/** `3:15 p.m.` → `three fifteen p m`, `15:30` → `fifteen thirty`, `3:1` → `three to one`. */
export function sayTimes(text: string): string {
  return text
    .replace(RANGE_BY_CLOCK, ' to ')
    .replace(RANGE_BY_HALF, ' to ')
    .replace(RANGE_BY_HOUR, (_, hour: string, minute?: string) => `${sayHour(hour, minute)} to `)
    .replace(WITH_HALF, (match, hour: string, minute: string | undefined, half: string, at: number, whole: string) => {
      return `${sayHour(hour, minute)} ${sayHalf(half, match, whole.slice(at + match.length))}`;
    })
    .replace(HALF_BEHIND_WORDS, (match, half: string, at: number, whole: string) =>
      sayHalf(half, match, whole.slice(at + match.length)),
    )
    .replace(BY_CLOCK, (_, hour: string, minute: string, second?: string) => {
      const seconds = second === undefined || second === '00' ? '' : ` and ${cardinal(Number(second))} seconds`;
      return `${sayClock(Number(hour), minute)}${seconds}`;
    })
    .replace(RATIO, (_, one: string, other: string) => `${cardinal(Number(one))} to ${cardinal(Number(other))}`);
}

/** The last stop of `written` ends the sentence too, where nothing comes behind it. */
function sayHalf(half: string, written: string, behind: string): string {
  return `${half.toLowerCase()} m${written.endsWith('.') && behind.trim() === '' ? '.' : ''}`;
}

function sayHour(hour: string, minute: string | undefined): string {
  return minute === undefined || minute === '00'
    ? cardinal(Number(hour))
    : `${cardinal(Number(hour))} ${sayMinute(minute)}`;
}

function sayClock(hour: number, minute: string): string {
  if (minute !== '00') return `${cardinal(hour)} ${sayMinute(minute)}`;
  if (hour === 0 || hour === 24) return 'midnight';
  return hour <= 12 ? `${cardinal(hour)} o'clock` : `${cardinal(hour)} hundred hours`;
}

function sayMinute(minute: string): string {
  return `${minute.startsWith('0') ? 'oh ' : ''}${cardinal(Number(minute))}`;
}

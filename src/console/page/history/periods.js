/** Stretches of time to look for calls in, by the reader's own clock. Pure functions. */

/** By their names in the address. */
export const PERIODS = new Map([
  ['', 'Any time'],
  ['hour', 'Last hour'],
  ['today', 'Today'],
  ['yesterday', 'Yesterday'],
  ['week', 'Last 7 days'],
  ['month', 'Last 30 days'],
  ['days', 'Choose days…'],
]);

const HOUR_MS = 3_600_000;
const DAYS = /^(\d{4}-\d\d-\d\d)?\.\.(\d{4}-\d\d-\d\d)?$/;

/**
 * The first and the last day of a period of chosen days (`2026-01-01..2026-01-31`, either may be missing); null for any
 * other period.
 * @param {string} when @returns {{ from: string, to: string } | null}
 */
export function daysOf(when) {
  const found = DAYS.exec(when);
  return found === null ? null : { from: found[1] ?? '', to: found[2] ?? '' };
}

/**
 * Since when and until when, as ISO 8601; an end that is open is left out.
 * @param {string} when a name of PERIODS, or chosen days @param {Date} now
 * @returns {{ since?: string, until?: string }}
 */
export function boundsOf(when, now) {
  const days = daysOf(when);
  if (days !== null) return { ...bound('since', startOfDay(days.from, 0)), ...bound('until', startOfDay(days.to, 1)) };
  const today = new Date(now.getFullYear(), now.getMonth(), now.getDate());
  if (when === 'hour') return bound('since', new Date(now.getTime() - HOUR_MS));
  if (when === 'today') return bound('since', today);
  if (when === 'yesterday') return { ...bound('since', addDays(today, -1)), ...bound('until', today) };
  if (when === 'week') return bound('since', addDays(today, -6));
  if (when === 'month') return bound('since', addDays(today, -29));
  return {};
}

/** @param {'since' | 'until'} name @param {Date | null} at */
function bound(name, at) {
  return at === null || Number.isNaN(at.getTime()) ? {} : { [name]: at.toISOString() };
}

/** Midnight that many days behind the beginning of `day`. @param {string} day @param {number} days */
function startOfDay(day, days) {
  if (day === '') return null;
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  return new Date(year, month - 1, date + days);
}

/** @param {Date} day @param {number} days */
function addDays(day, days) {
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() + days);
}

/** Figures of the server in words. Pure functions. */

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** A length of time by its two largest units, as `12 d 3 h`. @param {number} ms @returns {string} */
export function formatSpan(ms) {
  if (ms >= DAY_MS) return `${Math.floor(ms / DAY_MS)} d ${Math.floor((ms % DAY_MS) / HOUR_MS)} h`;
  if (ms >= HOUR_MS) return `${Math.floor(ms / HOUR_MS)} h ${Math.floor((ms % HOUR_MS) / MINUTE_MS)} min`;
  if (ms >= MINUTE_MS) return `${Math.floor(ms / MINUTE_MS)} min`;
  return `${Math.max(0, Math.floor(ms / SECOND_MS))} s`;
}

/**
 * What the clock of the server shows, which times of its own are to be compared with.
 * @param {{ startedAt: string, uptimeMs: number }} system @returns {Date}
 */
export function serverTime({ startedAt, uptimeMs }) {
  return new Date(Date.parse(startedAt) + uptimeMs);
}

/** How long ago, as `2 min ago`. @param {string} iso @param {Date} now @returns {string} */
export function formatAgo(iso, now) {
  const ms = now.getTime() - Date.parse(iso);
  return ms < 5 * SECOND_MS ? 'just now' : `${formatSpan(ms)} ago`;
}

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'];

/** @param {number} bytes @returns {string} such as `2.1 GB` */
export function formatBytes(bytes) {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value < 10 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${UNITS[unit]}`;
}

/** @param {number | null} ms @returns {string} such as `0.4 s`; `–` where there is nothing to tell */
export function formatSeconds(ms) {
  return ms === null ? '–' : `${(ms / SECOND_MS).toFixed(ms < 10 * SECOND_MS ? 1 : 0)} s`;
}

/** @param {number} count @param {string} one @param {string} [many] */
export function countOf(count, one, many = `${one}s`) {
  return `${count} ${count === 1 ? one : many}`;
}

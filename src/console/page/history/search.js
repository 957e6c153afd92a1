/** A search of calls: as it stands in the address, and as the API wants it. Pure functions. */
import { boundsOf } from './periods.js';

/** @typedef {Readonly<Record<string, string>>} Search the parameters of the address; `from` and `page` say the page */

/** Filters that are typed, with what they are called. */
export const TYPED_FILTERS = new Map([
  ['name', 'Name'],
  ['party', 'Number'],
  ['agent', 'Agent'],
  ['queue', 'Queue'],
  ['flow', 'Flow'],
  ['step', 'Flow step'],
  ['tag', 'Tag'],
  ['outcome', 'Outcome'],
]);

const PASSED_ON = ['q', 'carrier', 'endReason', 'state', 'app', ...TYPED_FILTERS.keys()];
const PAGE_CALLS = 50;

/**
 * The query of an export, without `?`.
 * @param {Search} search @param {Date} now @returns {URLSearchParams}
 */
export function filterQuery(search, now) {
  const query = new URLSearchParams();
  for (const name of PASSED_ON) {
    const value = search[name]?.trim() ?? '';
    if (value !== '') query.set(name, value);
  }
  for (const [name, value] of Object.entries(boundsOf(search['when'] ?? '', now))) query.set(name, value);
  if (search['hole'] === '1') query.set('hasGap', 'true');
  return query;
}

/** The path of the list that a search asks for. @param {Search} search @param {Date} now @returns {string} */
export function listPath(search, now) {
  const query = filterQuery(search, now);
  query.set('limit', String(PAGE_CALLS));
  if (search['from']) query.set('cursor', search['from']);
  return `/v1/calls?${query}`;
}

/**
 * The search from its first page on, with changes; empty values are left out.
 * @param {Search} search @param {Search} changes
 */
export function changed(search, changes) {
  const { from: _from, page: _page, ...rest } = { ...search, ...changes };
  return Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== ''));
}

/** Whether anything is asked for but all calls. @param {Search} search */
export function isNarrowed(search) {
  return Object.keys(changed(search, {})).length > 0;
}

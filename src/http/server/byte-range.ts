/** Range requests (RFC 9110 §14) for one range of bytes. */

/** What of a file is wanted. `first` null = the last `last` bytes; `last` null = to the end. */
export interface WantedRange {
  readonly first: number | null;
  readonly last: number | null;
}

const ONE_RANGE = /^bytes=\s*(?<first>\d{0,15})-(?<last>\d{0,15})\s*$/i;

/**
 * The range that a `Range` header names. Null = all of the file, also for a header that is not understood or names
 * several ranges, which a server may pass over (§14.2).
 */
export function readRange(header: string | undefined): WantedRange | null {
  const { first = '', last = '' } = ONE_RANGE.exec(header ?? '')?.groups ?? {};
  if (first === '' && last === '') return null;
  const range = { first: first === '' ? null : Number(first), last: last === '' ? null : Number(last) };
  const isBackwards = range.first !== null && range.last !== null && range.last < range.first;
  return isBackwards ? null : range;
}

/** `If-Range` (§13.1.5): whether the range counts. It must be the same strong tag. */
export function isSameRepresentation(ifRange: string | undefined, etag: string): boolean {
  return ifRange === undefined || (ifRange.trim() === etag && !etag.startsWith('W/'));
}

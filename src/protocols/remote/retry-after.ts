/** When a busy server wants to be asked again: RFC 9110 §10.2.3. */

/**
 * The wait that `Retry-After` names, in ms; null = none, or one that cannot be read. A date counts from the answer's
 * own `Date`, so that clocks need not agree.
 */
export function readRetryAfter(retryAfter: string | undefined, date: string | undefined): number | null {
  const text = retryAfter?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const waitMs = Date.parse(text) - Date.parse(date ?? '');
  return Number.isFinite(waitMs) && waitMs >= 0 ? waitMs : null;
}

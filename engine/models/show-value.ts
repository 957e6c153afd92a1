/** What came of a file that people wrote, in few characters, for a message. */

const SHOWN_CHARS = 40;

/** `value` as it stood in JSON, cut; lists and objects, however deep, by what they are. */
export function showValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'string') return JSON.stringify(value.slice(0, SHOWN_CHARS));
  if (Array.isArray(value)) return `an array of ${value.length}`;
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

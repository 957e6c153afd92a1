/** Shows a client's value in an error: enough to recognise it, however long or deep the value is. */

const ECHO_MAX_CHARS = 80;
/** Entries of a list or object that are read: more than can be shown. */
const DEPTH_MAX = ECHO_MAX_CHARS;
const ITEMS_MAX = ECHO_MAX_CHARS;

/** `value` as JSON, shortened. It came as JSON or is missing. */
export function describe(value: unknown): string {
  return value === undefined ? 'nothing' : clip(JSON.stringify(outline(value, DEPTH_MAX)));
}

/** `text`, shortened. */
export function clip(text: string): string {
  return text.length <= ECHO_MAX_CHARS ? text : `${text.slice(0, ECHO_MAX_CHARS)}…`;
}

/** Limits the depth: JSON.stringify would overflow the stack on deeply nested values. */
function outline(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return null;
  if (Array.isArray(value)) return value.slice(0, ITEMS_MAX).map((item) => outline(item, depth - 1));
  const entries = Object.entries(value).slice(0, ITEMS_MAX);
  return Object.fromEntries(entries.map(([key, item]) => [key, outline(item, depth - 1)]));
}

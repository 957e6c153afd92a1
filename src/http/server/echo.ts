/** What an error repeats of a client's own value: enough to know it again, and no more, however long or deep it is. */

const ECHO_MAX_CHARS = 80;
/** Of a list or object; more than can be shown. */
const DEPTH_MAX = ECHO_MAX_CHARS;
const ITEMS_MAX = ECHO_MAX_CHARS;

/** `value`, which came as JSON or not at all, as JSON and cut short. */
export function describe(value: unknown): string {
  return value === undefined ? 'nothing' : clip(JSON.stringify(outline(value, DEPTH_MAX)));
}

/** `text`, cut short. */
export function clip(text: string): string {
  return text.length <= ECHO_MAX_CHARS ? text : `${text.slice(0, ECHO_MAX_CHARS)}…`;
}

/** JSON.stringify goes as deep as a client nests, and runs out of stack. */
function outline(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return null;
  if (Array.isArray(value)) return value.slice(0, ITEMS_MAX).map((item) => outline(item, depth - 1));
  const entries = Object.entries(value).slice(0, ITEMS_MAX);
  return Object.fromEntries(entries.map(([key, item]) => [key, outline(item, depth - 1)]));
}

/**
 * Text as every database keeps it. PostgreSQL refuses U+0000, SQLite ends the text there for some of its functions, and
 * half of a surrogate pair has no UTF-8: each becomes U+FFFD, so that all databases give back the same.
 */

const REPLACEMENT = '\uFFFD';

/** How `JSON.stringify` writes such a character. */
const SPOILT_ESCAPE = /\\u(?:0000|d[89a-f][0-9a-f]{2})/i;

/** `text` without U+0000 and halves of surrogate pairs, also inside of a JSON object or array that it is. */
export function storableText(text: string): string {
  const whole = text.toWellFormed().replaceAll('\0', REPLACEMENT);
  const mayBeJson = whole.startsWith('{') || whole.startsWith('[');
  return mayBeJson && SPOILT_ESCAPE.test(whole) ? storableJson(whole) : whole;
}

/** A value of a statement: texts in it become as {@link storableText} leaves them, all else stays. */
export function storableValue(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value);
  if (Array.isArray(value)) return value.map(storableValue);
  return value;
}

/** A text that only looks like JSON stays as it is. */
function storableJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), (_name, value: unknown) => storableMember(value));
  } catch {
    return text;
  }
}

function storableMember(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value);
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [storableText(name), member]));
}

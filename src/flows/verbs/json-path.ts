/**
 * Paths to one value of a JSON document: the singular queries of RFC 9535 (§2.3.5.1), `$.order.lines[0]['due date']`.
 * Queries that select several values (`..`, `*`, slices, filters) are refused.
 */

/** The names and places of a path. A negative place counts from the end. */
export type JsonPath = readonly (string | number)[];

const PATH_MAX_CHARS = 500;
const SEGMENTS_MAX = 50;
/** `.name`, `[0]`, `['name']` or `["name"]`, with blanks where the RFC has them. */
const SEGMENT =
  /\s*(?:\.([A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)|\[\s*(?:(0|-?[1-9]\d{0,14})|'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\s*\])/y;
const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** @throws RangeError for what is no such path; the message says where */
export function readJsonPath(text: string): JsonPath {
  if (!text.startsWith('$')) throw new RangeError('expected a JSON path that begins with $, such as $.order.status');
  if (text.length > PATH_MAX_CHARS)
    throw new RangeError(`got a JSON path of ${text.length} characters, expected at most ${PATH_MAX_CHARS}`);
  const path: (string | number)[] = [];
  for (let at = 1; at < text.length; at = SEGMENT.lastIndex) {
    SEGMENT.lastIndex = at;
    const found = SEGMENT.exec(text);
    if (found === null)
      throw new RangeError(
        `got a JSON path that cannot be read at its character ${at + 1}, expected .name, [0] or ['name']`,
      );
    if (path.length === SEGMENTS_MAX) throw new RangeError(`expected at most ${SEGMENTS_MAX} names in a JSON path`);
    const [, name, place, single, double] = found;
    path.push(place === undefined ? (name ?? plainOf(single ?? double ?? '')) : Number(place));
  }
  return path;
}

/** The value at `path`; undefined = there is none. */
export function valueAt(json: unknown, path: JsonPath): unknown {
  let value = json;
  for (const step of path) {
    if (typeof step === 'number') value = Array.isArray(value) ? value.at(step) : undefined;
    else value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  }
  return value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function plainOf(text: string): string {
  return text.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/gs, (_, code: string | undefined, plain = '') =>
    code === undefined ? (ESCAPES[plain] ?? plain) : String.fromCharCode(Number.parseInt(code, 16)),
  );
}

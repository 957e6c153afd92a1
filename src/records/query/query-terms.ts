/** What `trunkline db query` asks, and what comes back. */

/** Rows of one answer, and the length of it as JSON. */
export const QUERY_ROWS_MAX = 1000;
export const QUERY_CHARS_MAX = 4_000_000;
/** So long one query may take. */
export const QUERY_LIMIT_MS = 10_000;
/** A query is no longer than this. */
export const SQL_CHARS_MAX = 20_000;

/** A value as JSON has it: bytes as hex, large whole numbers as text. */
export type QueryValue = string | number | null;

/** Rows by the names of their columns; `isCut` = there are more. */
export interface QueryAnswer {
  readonly rows: readonly Readonly<Record<string, QueryValue>>[];
  readonly isCut: boolean;
}

/** The query is none that is answered, or it failed; `message` is for whoever asked. */
export class QueryRefused extends Error {}

/** One statement that reads. @throws QueryRefused for any other */
export function readingStatement(text: string): string {
  const sql = text.trim().replace(/;$/, '').trimEnd();
  if (sql.length > SQL_CHARS_MAX) throw new QueryRefused(`expected at most ${SQL_CHARS_MAX} characters of SQL`);
  if (!/^(?:select|with|values)\b/i.test(sql)) throw new QueryRefused('expected one SELECT, WITH or VALUES statement');
  if (sql.includes(';')) throw new QueryRefused('expected one statement, without a semicolon inside');
  return sql;
}

/** Takes rows up to the limits. @throws what `found` throws */
export async function gatherRows(
  found: Iterable<Readonly<Record<string, unknown>>> | AsyncIterable<Readonly<Record<string, unknown>>>,
): Promise<QueryAnswer> {
  const rows: Record<string, QueryValue>[] = [];
  let chars = 0;
  for await (const row of found) {
    const readable = Object.fromEntries(Object.entries(row).map(([name, value]) => [name, readableValue(value)]));
    chars += JSON.stringify(readable).length;
    if (rows.length === QUERY_ROWS_MAX || chars > QUERY_CHARS_MAX) return { rows, isCut: true };
    rows.push(readable);
  }
  return { rows, isCut: false };
}

function readableValue(value: unknown): QueryValue {
  if (value === null || typeof value === 'string' || typeof value === 'number') return value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

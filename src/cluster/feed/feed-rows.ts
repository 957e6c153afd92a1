/** The table that all gateways write their events to, and its queries. */
import type pg from 'pg';

/** The channel on which a gateway wakes the others. */
export const FEED_CHANNEL = 'trunkline_feed';

/** SQLSTATE that `feed_append` raises for a gateway whose term is over: it was declared dead. */
export const DECLARED_DEAD = 'TL001';

/** An event of this gateway, as it is inserted. */
export interface NewRow {
  readonly localNumber: number;
  readonly callId: string;
  /** JSON. */
  readonly content: string;
  /** When it was published, in ms since 1970. */
  readonly atMs: number;
}

/** An event of any gateway, as it is read. */
export interface FeedRow {
  readonly number: number;
  readonly gateway: string;
  readonly localNumber: number;
  /** Null = it is the reading gateway's own, which has it. */
  readonly content: string | null;
}

const APPEND = 'SELECT local_number, number FROM feed_append($1, $2, $3::json)';

/**
 * Inserts events of `gateway` in its `term`, in this order. Those that are there already stay. Resolves with the
 * numbers of all by their local ones.
 * @throws the error of the database; its code is {@link DECLARED_DEAD} when the others have ended that term
 */
export async function appendRows(
  client: pg.Client,
  { gateway, term }: { readonly gateway: string; readonly term: number },
  rows: readonly NewRow[],
): Promise<ReadonlyMap<number, number>> {
  const entries = rows.map(({ localNumber, callId, content, atMs }) => ({
    local_number: localNumber,
    // PostgreSQL has no NUL in its texts.
    call_id: callId.toWellFormed().replaceAll('\0', ''),
    content,
    at_ms: atMs,
  }));
  const values = [gateway, term, JSON.stringify(entries)];
  const found = await client.query<{ local_number: number; number: number }>({
    name: 'feed-append',
    text: APPEND,
    values,
  });
  return new Map(found.rows.map(({ local_number, number }) => [local_number, number]));
}

/** `before` = bytes of the rows before it, so that the first one always comes; `found` = rows with those left out. */
const READ = `SELECT number, gateway, local_number AS "localNumber", content, found FROM (
    SELECT number, gateway, local_number, content, count(*) OVER () AS found,
      sum(coalesce(octet_length(content), 0)) OVER (ORDER BY number) - coalesce(octet_length(content), 0) AS before
    FROM (
      SELECT number, gateway, local_number, CASE WHEN gateway = $1 THEN NULL ELSE content END AS content
      FROM feed WHERE number > $2 ORDER BY number LIMIT $3
    ) AS next
  ) AS sized WHERE before < $4 ORDER BY number`;

interface ReadTerms {
  readonly gateway: string;
  /** The number that was read last. */
  readonly after: number;
  readonly rowsMax: number;
  /** No row follows when those before it have so many bytes. */
  readonly bytesMax: number;
}

/** The next rows for `gateway`, in order; `isLast` = there are no more. @throws the error of the database */
export async function readRows(
  client: pg.Client,
  { gateway, after, rowsMax, bytesMax }: ReadTerms,
): Promise<{ readonly rows: readonly FeedRow[]; readonly isLast: boolean }> {
  const values = [gateway, after, rowsMax, bytesMax];
  const { rows } = await client.query<FeedRow & { found: number }>({ name: 'feed-read', text: READ, values });
  const found = rows[0]?.found ?? 0;
  return { rows, isLast: found < rowsMax && rows.length === found };
}

/** The epoch of all ids, and the highest number that was given. @throws the error of the database */
export async function readFeedStart(client: pg.Client): Promise<{ readonly epoch: string; readonly last: number }> {
  const { rows } = await client.query<{ epoch: string; last: number }>(
    `SELECT (SELECT value FROM meta WHERE name = 'cluster:feed-epoch') AS epoch,
       greatest((SELECT last_value FROM feed_number), (SELECT max(number) FROM feed)) AS last`,
  );
  const [start] = rows;
  if (start === undefined) throw new Error('the database has no feed');
  return start;
}

/** Deletes all rows up to `number`, unless another gateway does so just now. @throws the error of the database */
export async function trimRows(client: pg.Client, number: number): Promise<void> {
  await client.query({
    name: 'feed-trim',
    text: `DELETE FROM feed WHERE number <= $1 AND (SELECT pg_try_advisory_xact_lock($2))`,
    values: [number, TRIM_LOCK_KEY],
  });
}

/** Of the one gateway that deletes old rows at a time. */
const TRIM_LOCK_KEY = 7_214_380_063;

/** Deletes the rows of a call, but the one that says that it was deleted. @throws the error of the database */
export async function forgetRows(client: pg.Client, callId: string): Promise<void> {
  const text = `DELETE FROM feed WHERE call_id = $1 AND content NOT LIKE '{"type":"call.deleted"%'`;
  await client.query(text, [callId.toWellFormed().replaceAll('\0', '')]);
}

/**
 * What a search by each filter needs (src/records/search/call-drivers.ts), what was counted of flows day by day
 * (src/records/flows/flow-days.ts), and indexes of the work on shared batches.
 */
import { type Kysely, sql } from 'kysely';
import type { DatabaseKind } from '../database-kind.ts';

// biome-ignore lint/suspicious/noExplicitAny: a migration knows the tables as they were, not as tables.ts has them
type AnyDatabase = Kysely<any>;

/** Characters of a number or address, from its end, that the index of SQLite has: it has no function for all. */
const REVERSED_CHARS = 16;

const DAY_MS = 86_400_000;

function reversed(kind: DatabaseKind, column: string): string {
  if (kind === 'postgres') return `reverse(${column})`;
  return Array.from({ length: REVERSED_CHARS }, (_, at) => `substr(${column}, -${at + 1}, 1)`).join(' || ');
}

/** The length is in a column of its own that only the end of a call sets: what changes all the time has no index. */
function columns(whole: string): readonly string[] {
  return [
    `ALTER TABLE calls ADD COLUMN length_ms ${whole}`,
    "UPDATE calls SET length_ms = duration_ms WHERE state = 'ended'",
    'CREATE INDEX calls_length ON calls (length_ms, started_ms, seq) WHERE length_ms IS NOT NULL',
    `ALTER TABLE call_tags ADD COLUMN started_ms ${whole} NOT NULL DEFAULT 0`,
    'UPDATE call_tags SET started_ms = (SELECT started_ms FROM calls WHERE calls.seq = call_tags.call_seq)',
    'DROP INDEX call_tags_of_tag',
    'CREATE INDEX call_tags_of_tag ON call_tags (tag, started_ms, call_seq)',
    `CREATE TABLE flow_days (
      day_ms ${whole} NOT NULL, scope TEXT NOT NULL, changes ${whole} NOT NULL, content TEXT NOT NULL,
      PRIMARY KEY (day_ms, scope)
    )`,
  ];
}

/** PostgreSQL finds a beginning by an index whose characters are compared as bytes. */
function parties(kind: DatabaseKind): readonly string[] {
  const bytewise = kind === 'postgres' ? ' text_pattern_ops' : '';
  return ['from_party', 'to_party'].flatMap((column) => [
    ...(kind === 'postgres'
      ? [
          `DROP INDEX calls_${column}`,
          `CREATE INDEX calls_${column} ON calls (${column}${bytewise}, started_ms, seq) WHERE ${column} IS NOT NULL`,
        ]
      : []),
    `CREATE INDEX calls_${column}_reversed ON calls ((${reversed(kind, column)})${bytewise}, started_ms, seq)
      WHERE ${column} IS NOT NULL`,
  ]);
}

const NAMED = (row: string): string => `(${row}inbound_name IS NOT NULL OR ${row}outbound_name IS NOT NULL)`;
const ADD_NAMES = `INSERT INTO names_index (rowid, inbound_name, outbound_name)
  SELECT new.seq, new.inbound_name, new.outbound_name WHERE ${NAMED('new.')}`;
const REMOVE_NAMES = `INSERT INTO names_index (names_index, rowid, inbound_name, outbound_name)
  SELECT 'delete', old.seq, old.inbound_name, old.outbound_name WHERE ${NAMED('old.')}`;

/** Names by each three characters in a row: https://sqlite.org/fts5.html#the_trigram_tokenizer */
const SQLITE_NAMES: readonly string[] = [
  `CREATE VIRTUAL TABLE names_index USING fts5 (
    inbound_name, outbound_name, content = 'calls', content_rowid = 'seq', tokenize = 'trigram', detail = 'full'
  )`,
  "INSERT INTO names_index (names_index, rank) VALUES ('secure-delete', 1)",
  `INSERT INTO names_index (rowid, inbound_name, outbound_name)
    SELECT seq, inbound_name, outbound_name FROM calls WHERE ${NAMED('')}`,
  `CREATE TRIGGER names_added AFTER INSERT ON calls BEGIN ${ADD_NAMES}; END`,
  `CREATE TRIGGER names_removed AFTER DELETE ON calls BEGIN ${REMOVE_NAMES}; END`,
  `CREATE TRIGGER names_changed AFTER UPDATE OF inbound_name, outbound_name ON calls
    WHEN old.inbound_name IS NOT new.inbound_name OR old.outbound_name IS NOT new.outbound_name
    BEGIN ${REMOVE_NAMES}; ${ADD_NAMES}; END`,
];

const touchDay = (row: string): string =>
  `UPDATE flow_days SET changes = changes + 1
    WHERE day_ms = ${row}.started_ms - ${row}.started_ms % ${DAY_MS} AND scope = '' AND ${row}.flow IS NOT NULL;
  DELETE FROM flow_days
    WHERE day_ms = ${row}.started_ms - ${row}.started_ms % ${DAY_MS} AND scope <> '' AND ${row}.flow IS NOT NULL;`;

const IS_OF_FLOW = "type IN ('flow.started', 'flow.step', 'flow.input', 'flow.ended')";

/** What changes a day that was counted: a call that comes, ends, changes its flow or is deleted, and redaction. */
const SQLITE_DAYS: readonly string[] = [
  `CREATE TRIGGER flow_days_added AFTER INSERT ON calls BEGIN ${touchDay('new')} END`,
  `CREATE TRIGGER flow_days_removed AFTER DELETE ON calls BEGIN ${touchDay('old')} END`,
  `CREATE TRIGGER flow_days_changed AFTER UPDATE OF state, flow, flow_version, started_ms ON calls
    WHEN old.state IS NOT new.state OR old.flow IS NOT new.flow OR old.flow_version IS NOT new.flow_version
      OR old.started_ms IS NOT new.started_ms
    BEGIN ${touchDay('old')} ${touchDay('new')} END`,
  `CREATE TRIGGER flow_days_rewritten AFTER UPDATE OF content ON events WHEN new.${IS_OF_FLOW} BEGIN
    UPDATE flow_days SET changes = changes + 1 WHERE scope = ''
      AND day_ms = (SELECT started_ms - started_ms % ${DAY_MS} FROM calls WHERE seq = new.call_seq);
    DELETE FROM flow_days WHERE scope <> ''
      AND day_ms = (SELECT started_ms - started_ms % ${DAY_MS} FROM calls WHERE seq = new.call_seq);
  END`,
];

const SQLITE: readonly string[] = [
  ...SQLITE_NAMES,
  ...SQLITE_DAYS,
  `CREATE TRIGGER call_tags_moved AFTER UPDATE OF started_ms ON calls WHEN old.started_ms <> new.started_ms
    BEGIN UPDATE call_tags SET started_ms = new.started_ms WHERE call_seq = new.seq; END`,
];

/** As the trigram index of SQLite, without an extension that a server may not have. */
const POSTGRES_NAMES: readonly string[] = [
  `CREATE FUNCTION name_grams(name TEXT) RETURNS TEXT[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT array_agg(DISTINCT substr(lower(name), place, 3)) FROM generate_series(1, length(name) - 2) AS place
  $$`,
  `CREATE INDEX calls_names ON calls
    USING gin (name_grams(coalesce(inbound_name, '') || chr(10) || coalesce(outbound_name, '')))
    WHERE ${NAMED('')}`,
];

const POSTGRES_DAYS: readonly string[] = [
  `CREATE FUNCTION touch_flow_day(of_ms BIGINT) RETURNS void LANGUAGE sql AS $$
    UPDATE flow_days SET changes = changes + 1 WHERE day_ms = of_ms - of_ms % ${DAY_MS} AND scope = '';
    DELETE FROM flow_days WHERE day_ms = of_ms - of_ms % ${DAY_MS} AND scope <> '';
  $$`,
  `CREATE FUNCTION note_call_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_OP <> 'INSERT' AND OLD.flow IS NOT NULL THEN PERFORM touch_flow_day(OLD.started_ms); END IF;
    IF TG_OP <> 'DELETE' AND NEW.flow IS NOT NULL THEN PERFORM touch_flow_day(NEW.started_ms); END IF;
    RETURN NULL;
  END $$`,
  `CREATE FUNCTION note_event_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM touch_flow_day(started_ms) FROM calls WHERE seq = NEW.call_seq;
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER flow_days_counted AFTER INSERT OR DELETE ON calls
    FOR EACH ROW EXECUTE FUNCTION note_call_change()`,
  `CREATE TRIGGER flow_days_changed AFTER UPDATE ON calls FOR EACH ROW
    WHEN (OLD.state IS DISTINCT FROM NEW.state OR OLD.flow IS DISTINCT FROM NEW.flow
      OR OLD.flow_version IS DISTINCT FROM NEW.flow_version OR OLD.started_ms <> NEW.started_ms)
    EXECUTE FUNCTION note_call_change()`,
  `CREATE TRIGGER flow_days_rewritten AFTER UPDATE OF content ON events FOR EACH ROW WHEN (NEW.${IS_OF_FLOW})
    EXECUTE FUNCTION note_event_change()`,
];

const POSTGRES: readonly string[] = [
  ...POSTGRES_NAMES,
  ...POSTGRES_DAYS,
  `CREATE FUNCTION move_call_tags() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    UPDATE call_tags SET started_ms = NEW.started_ms WHERE call_seq = NEW.seq;
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER call_tags_moved AFTER UPDATE OF started_ms ON calls FOR EACH ROW
    WHEN (OLD.started_ms <> NEW.started_ms) EXECUTE FUNCTION move_call_tags()`,
  'DROP INDEX batch_files_open',
  "CREATE INDEX batch_files_open ON batch_files (batch_id, is_queued, number) WHERE state = 'waiting'",
  "CREATE INDEX batches_running ON batches (tenant, created_ms, id) WHERE state = 'running'",
];

/** Adds it all. Rows of calls and tags that are there are written once. */
export async function addPlannedSearch(database: AnyDatabase, kind: DatabaseKind): Promise<void> {
  const whole = kind === 'sqlite' ? 'INTEGER' : 'BIGINT';
  const statements = [...columns(whole), ...parties(kind), ...(kind === 'sqlite' ? SQLITE : POSTGRES)];
  for (const statement of statements) await sql.raw(statement).execute(database);
}
